import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { multiplyChosenRows } from '../../core/tensors/row-products.ts';
import { type ConversationTree, createTreesAsOf, type TreeAsOf } from './conversation-tree.ts';
import { COORDINATES, type ComplexityScale, type CoordinateName, type Dimensions } from './coordinate-names.ts';
import { divideOrZero, scaleComplexity } from './coordinates.ts';
import { type CorpusFrames, countTurnsBefore, type FrameTables, ROW, ROW_WIDTH } from './frame-tables.ts';
import { clipCosine, computeSquaredLengths } from './homogeneity.ts';

/** With fewer turns the shape of a conversation is not informative (section 7.2 of diomande2026ragpp). */
export const COLD_START_TURNS = 5;

/** B queries as their candidates' conversations see them. */
export interface QueryPoints {
  /** [B] milliseconds. */
  readonly timestamps: Float64Array;
  /** [B] semantic components of the texts. */
  readonly components: Int32Array;
  /** Row-major [B, D]. */
  readonly vectors: Float32Array;
  /** [B] corpus position of the turn that the query answers, -1 if unknown. */
  readonly anchors: Int32Array;
}

/** Coordinates and ring geometry of B queries and C candidates each, in the frame of each candidate's conversation; padding is all 0. */
export interface QueryFrames {
  readonly names: readonly CoordinateName[];
  /** Row-major [B, C, M]. */
  readonly candidates: Float32Array;
  /** Row-major [B, C, M]. */
  readonly queries: Float32Array;
  /** [B, C] n, turns of the conversation as of then: the query's place in a ring of n + 1. */
  readonly turns: Int32Array;
  /** [B, C] the candidate's place in the ring. */
  readonly ringPositions: Int32Array;
  /** [B, C] steps from candidate to query, the shorter way round the ring. */
  readonly ringDistances: Float32Array;
  /** [B, C] steps from candidate to query along the line. */
  readonly lineDistances: Float32Array;
  /** [B, C] 1 if the conversation had fewer than {@link COLD_START_TURNS} turns. */
  readonly coldStart: Uint8Array;
}

/** A conversation at a query's time, with the query as its next turn. */
interface Frame {
  readonly turns: number;
  readonly tables: FrameTables;
  /** Without the query. */
  readonly tree: ConversationTree;
  /** Ring position of the turn that the query answers, and how many answers it had before. */
  readonly parent: number;
  readonly answers: number;
  readonly first: number;
  readonly span: number;
  readonly deepest: number;
  readonly mostComponents: number;
  readonly largestGroup: number;
  readonly mostChildren: number;
  /** The query's own figures. */
  readonly depth: number;
  readonly components: number;
  readonly homogeneity: number;
}

interface Context {
  readonly frames: CorpusFrames;
  readonly trees: TreeAsOf;
  readonly points: QueryPoints;
  /** [B] squared lengths of the query vectors. */
  readonly squares: Float64Array;
}

/** The places at which queries join the conversations of their candidates, [B, C] each. */
interface Joints {
  /** The first pair of the same query and conversation. */
  readonly firsts: Int32Array;
  /** Turns of the conversation as of then, of first pairs. */
  readonly turns: Int32Array;
  /** Ring position of the turn that the query answers, of first pairs. */
  readonly parents: Int32Array;
  /** The corpus position of that turn; -1 for other pairs. */
  readonly rows: Int32Array;
}

function joinConversations({ frames, points }: Context, positions: Int32Array): Joints {
  const { conversationOf, conversations, ringPosition } = frames.corpus;
  const [firsts, turns, parents, rows] = [0, 1, 2, 3].map(() => new Int32Array(positions.length)) as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  const latest = new Int32Array(conversations.length).fill(-1); // the first pair of the last query, by conversation
  const width = positions.length / Math.max(points.timestamps.length, 1);
  for (let query = 0, pair = 0; query < points.timestamps.length; query++) {
    const cutoff = findQueryCutoff(frames, points, query);
    const [moment, anchor] = [points.timestamps[query] as number, points.anchors[query] as number];
    const asked = anchor < 0 ? -1 : (conversationOf[anchor] as number);
    for (const start = pair, end = pair + width; pair < end; pair++) {
      const position = positions[pair] as number;
      rows[pair] = -1;
      if (position < 0) continue;
      if (position >= cutoff)
        throw new ValidationError(
          `candidate is not earlier than query ${query}: ${position}; pass earlier turns only`,
          { query, position },
        );
      const conversation = conversationOf[position] as number;
      if ((latest[conversation] as number) < start) {
        latest[conversation] = pair;
        const count = countTurnsBefore(frames.tables(conversation), moment);
        const parent = asked === conversation ? (ringPosition[anchor] as number) : count - 1;
        turns[pair] = count;
        parents[pair] = parent;
        rows[pair] = frames.positions(conversation)[parent] as number;
      }
      firsts[pair] = latest[conversation] as number;
    }
  }
  return { firsts, turns, parents, rows };
}

/** The frame of a query in a conversation. @param product of the vectors of the query and the turn that it answers. */
function buildFrame(
  { frames, trees, points, squares }: Context,
  query: number,
  conversation: number,
  { turns, parent, product }: { readonly turns: number; readonly parent: number; readonly product: number },
): Frame {
  const tables = frames.tables(conversation);
  const { rows } = tables;
  const newest = (turns - 1) * ROW_WIDTH;
  const tree = trees(conversation, turns);
  const answers = tree.children(parent);
  const first = rows[newest + ROW.start] as number;
  const depth = tree.depth(parent) + 1;
  const components = points.components[query] as number;
  return {
    turns,
    tree,
    parent,
    answers,
    first,
    span: (points.timestamps[query] as number) - first,
    deepest: Math.max(tree.deepest, depth),
    mostComponents: Math.max(rows[newest + ROW.mostComponents] as number, components),
    largestGroup: Math.max(tree.largestGroup, answers + 1),
    mostChildren: Math.max(tree.mostChildren, answers + 1),
    depth,
    components,
    homogeneity: clipCosine(product, squares[query] as number, rows[parent * ROW_WIDTH + ROW.square] as number),
    tables,
  };
}

/** A coordinate of the query: it is the newest turn, and has no answer yet. */
function computeQueryValue(name: CoordinateName, frame: Frame, scale: ComplexityScale): number {
  switch (name) {
    case 'depth':
      return frame.depth / frame.deepest;
    case 'siblingOrder':
      return frame.answers / Math.max(frame.answers, 1);
    case 'homogeneity':
      return frame.homogeneity;
    case 'temporal':
      return 1;
    case 'complexity':
      return scaleComplexity(frame.components, frame.mostComponents, scale);
    case 'branchFactor':
      return (frame.answers + 1) / frame.largestGroup;
    case 'childrenCount':
      return 0;
  }
}

/** A coordinate of a candidate once the query is there. @param turn its ring position. */
function computeCandidateValue(name: CoordinateName, frame: Frame, turn: number, scale: ComplexityScale): number {
  const { tree, tables } = frame;
  switch (name) {
    case 'depth':
      return tree.depth(turn) / frame.deepest;
    case 'siblingOrder':
      return tree.siblingIndex(turn) / Math.max(countSiblings(frame, turn) - 1, 1);
    case 'homogeneity':
      return tree.homogeneity(turn);
    case 'temporal':
      return divideOrZero((tables.rows[turn * ROW_WIDTH + ROW.timestamp] as number) - frame.first, frame.span);
    case 'complexity':
      return scaleComplexity(tables.rows[turn * ROW_WIDTH + ROW.components] as number, frame.mostComponents, scale);
    case 'branchFactor':
      return countSiblings(frame, turn) / frame.largestGroup;
    case 'childrenCount':
      return (turn === frame.parent ? frame.answers + 1 : tree.children(turn)) / frame.mostChildren;
  }
}

/** The candidate's sibling group, itself included, and the query if both answer the same turn. */
function countSiblings({ tree, parent, answers }: Frame, turn: number): number {
  return tree.parent(turn) === parent ? answers + 1 : tree.siblings(turn);
}

function assertPoints(points: QueryPoints, frames: CorpusFrames, pairs: number): void {
  const count = points.timestamps.length;
  const check = (what: string, expected: number, got: number) => {
    if (expected !== got) throw new DimensionMismatchError(what, expected, got);
  };
  check('components of the queries', count, points.components.length);
  check('anchors of the queries', count, points.anchors.length);
  check('vectors of the queries', count * frames.dimension, points.vectors.length);
  check('candidate positions left over by the queries', 0, count === 0 ? pairs : pairs % count);
}

/** @returns how many leading turns the query may see. */
function findQueryCutoff({ corpus }: CorpusFrames, points: QueryPoints, query: number): number {
  const cutoff = corpus.countEarlierTurns(points.timestamps[query] as number);
  const anchor = points.anchors[query] as number;
  if (anchor >= cutoff)
    throw new ValidationError(`anchor is not earlier than query ${query}: ${anchor}; pass an earlier turn`, {
      query,
      anchor,
      cutoff,
    });
  return cutoff;
}

/**
 * Places each query as the next turn of each candidate's conversation: child of the newest turn strictly earlier than the query, or of its anchor in the
 * anchor's own conversation, at the query's time. All maxima include the query. A frame costs one binary search and one cosine for each conversation among a
 * query's candidates, a pair O(M log siblings).
 *
 * @param positions row-major [B, C] corpus positions of the candidates, -1 for padding
 * @param options.trees the trees of parents; by default those of the frames
 * @throws ValidationError for a candidate or an anchor that is not strictly earlier than its query.
 */
export function computeQueryFrames(
  frames: CorpusFrames,
  points: QueryPoints,
  positions: Int32Array,
  options: { readonly dimensions: Dimensions; readonly complexityScale?: ComplexityScale; readonly trees?: TreeAsOf },
): QueryFrames {
  assertPoints(points, frames, positions.length);
  const names = COORDINATES[options.dimensions];
  const squares = computeSquaredLengths(points.vectors, frames.dimension, points.timestamps.length);
  const { trees = createTreesAsOf(frames), complexityScale: scale = 'log' } = options;
  const context: Context = { frames, trees, points, squares };
  const joints = joinConversations(context, positions);
  const products = multiplyChosenRows(points.vectors, frames.vectors, joints.rows, frames.dimension);
  const result = allocateFrames(names, positions.length);
  const width = positions.length / Math.max(points.timestamps.length, 1);
  const { conversationOf, ringPosition } = frames.corpus;
  const built: Frame[] = []; // of a query, by the first pair of their conversation, counted from the query's first
  for (let query = 0, pair = 0; query < points.timestamps.length; query++)
    for (const start = pair, end = pair + width; pair < end; pair++) {
      const position = positions[pair] as number;
      if (position < 0) continue;
      const first = joints.firsts[pair] as number;
      if (first === pair) {
        const frame = buildFrame(context, query, conversationOf[position] as number, {
          turns: joints.turns[pair] as number,
          parent: joints.parents[pair] as number,
          product: products[pair] as number,
        });
        built[pair - start] = frame;
        for (let i = 0, at = pair * names.length; i < names.length; i++, at++)
          result.queries[at] = computeQueryValue(names[i] as CoordinateName, frame, scale);
      } else copyQuery(result, first, pair);
      writePair(result, built[first - start] as Frame, pair, ringPosition[position] as number, scale);
    }
  return result;
}

function allocateFrames(names: readonly CoordinateName[], pairs: number): QueryFrames {
  return {
    names,
    candidates: new Float32Array(pairs * names.length),
    queries: new Float32Array(pairs * names.length),
    turns: new Int32Array(pairs),
    ringPositions: new Int32Array(pairs),
    ringDistances: new Float32Array(pairs),
    lineDistances: new Float32Array(pairs),
    coldStart: new Uint8Array(pairs),
  };
}

function copyQuery({ queries, names }: QueryFrames, from: number, pair: number): void {
  for (let i = 0; i < names.length; i++) queries[pair * names.length + i] = queries[from * names.length + i] as number;
}

function writePair(result: QueryFrames, frame: Frame, pair: number, ringPosition: number, scale: ComplexityScale) {
  const { names, candidates } = result;
  for (let i = 0, at = pair * names.length; i < names.length; i++, at++)
    candidates[at] = computeCandidateValue(names[i] as CoordinateName, frame, ringPosition, scale);
  const steps = frame.turns - ringPosition;
  result.turns[pair] = frame.turns;
  result.ringPositions[pair] = ringPosition;
  result.lineDistances[pair] = steps;
  result.ringDistances[pair] = Math.min(steps, frame.turns + 1 - steps);
  result.coldStart[pair] = frame.turns < COLD_START_TURNS ? 1 : 0;
}
