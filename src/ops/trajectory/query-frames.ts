import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { multiplyChosenRows } from '../../core/tensors/row-products.ts';
import { viewRow } from '../../core/tensors/rows.ts';
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
  /** Ring and corpus position of the turn that the query answers, and how many answers it had before. */
  readonly parent: number;
  readonly position: number;
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
  homogeneity: number;
}

interface Context {
  readonly frames: CorpusFrames;
  readonly trees: TreeAsOf;
  readonly points: QueryPoints;
  /** [B] squared lengths of the query vectors. */
  readonly squares: Float64Array;
  readonly names: readonly CoordinateName[];
  readonly scale: ComplexityScale;
}

/** The homogeneity of a query in frames. */
function measureHomogeneities({ frames, points, squares }: Context, query: number, joined: readonly Frame[]): void {
  const rows = new Int32Array(joined.length);
  for (let i = 0; i < rows.length; i++) rows[i] = (joined[i] as Frame).position;
  const vector = viewRow(points.vectors, frames.dimension, query);
  const products = multiplyChosenRows(vector, frames.vectors, rows, frames.dimension);
  for (let i = 0; i < rows.length; i++) {
    const frame = joined[i] as Frame;
    const square = frame.tables.rows[frame.parent * ROW_WIDTH + ROW.square] as number;
    frame.homogeneity = clipCosine(products[i] as number, squares[query] as number, square);
  }
}

function buildFrame(context: Context, query: number, conversation: number): Frame {
  const { frames, points } = context;
  const { corpus } = frames;
  const tables = frames.tables(conversation);
  const moment = points.timestamps[query] as number;
  const turns = countTurnsBefore(tables, moment);
  const newest = turns - 1;
  const anchor = points.anchors[query] as number;
  const answersHere = anchor >= 0 && corpus.conversationOf[anchor] === conversation;
  const parent = answersHere ? (corpus.ringPosition[anchor] as number) : newest;
  const tree = context.trees(conversation, turns);
  const answers = tree.children(parent);
  const first = tables.rows[newest * ROW_WIDTH + ROW.start] as number;
  const depth = tree.depth(parent) + 1;
  const components = points.components[query] as number;
  return {
    turns,
    tree,
    parent,
    position: frames.positions(conversation)[parent] as number,
    answers,
    first,
    span: moment - first,
    deepest: Math.max(tree.deepest, depth),
    mostComponents: Math.max(tables.rows[newest * ROW_WIDTH + ROW.mostComponents] as number, components),
    largestGroup: Math.max(tree.largestGroup, answers + 1),
    mostChildren: Math.max(tree.mostChildren, answers + 1),
    depth,
    components,
    homogeneity: 0,
    tables,
  };
}

/** The query's coordinates: it is the newest turn, and has no answer yet. */
const QUERY_VALUES: Readonly<Record<CoordinateName, (context: Context, frame: Frame) => number>> = {
  depth: (_, frame) => frame.depth / frame.deepest,
  siblingOrder: (_, frame) => frame.answers / Math.max(frame.answers, 1),
  homogeneity: (_, frame) => frame.homogeneity,
  temporal: () => 1,
  complexity: ({ scale }, frame) => scaleComplexity(frame.components, frame.mostComponents, scale),
  branchFactor: (_, frame) => (frame.answers + 1) / frame.largestGroup,
  childrenCount: () => 0,
};

/** A candidate's coordinates once the query is there, by its ring position. */
const CANDIDATE_VALUES: Readonly<Record<CoordinateName, (context: Context, frame: Frame, turn: number) => number>> = {
  depth: (_, frame, turn) => frame.tree.depth(turn) / frame.deepest,
  siblingOrder: (_, frame, turn) => frame.tree.siblingIndex(turn) / Math.max(countSiblings(frame, turn) - 1, 1),
  homogeneity: (_, frame, turn) => frame.tree.homogeneity(turn),
  temporal: (_, { tables, first, span }, turn) =>
    divideOrZero((tables.rows[turn * ROW_WIDTH + ROW.timestamp] as number) - first, span),
  complexity: ({ scale }, { tables, mostComponents }, turn) =>
    scaleComplexity(tables.rows[turn * ROW_WIDTH + ROW.components] as number, mostComponents, scale),
  branchFactor: (_, frame, turn) => countSiblings(frame, turn) / frame.largestGroup,
  childrenCount: (_, frame, turn) => {
    const children = turn === frame.parent ? frame.answers + 1 : frame.tree.children(turn);
    return children / frame.mostChildren;
  },
};

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
  const context: Context = { frames, trees, points, squares, names, scale };
  const result = allocateFrames(names, positions.length);
  const writer = new FrameWriter(context, result);
  const width = positions.length / Math.max(points.timestamps.length, 1);
  for (let query = 0; query < points.timestamps.length; query++) {
    writer.write(query, positions, query * width, (query + 1) * width);
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

/** Writes the pairs of one query after the other: a frame is built once for all candidates of its conversation. */
class FrameWriter {
  readonly #context: Context;
  readonly #result: QueryFrames;
  readonly #candidateValues: readonly (typeof CANDIDATE_VALUES)[CoordinateName][];
  readonly #queryValues: readonly (typeof QUERY_VALUES)[CoordinateName][];
  /** The first pair of each conversation, of the last query that has it. */
  readonly #firstPairs: Int32Array;
  /** The frames of the query, by the first pair of their conversation, counted from the query's first. */
  readonly #frames: Frame[] = [];

  constructor(context: Context, result: QueryFrames) {
    const { length } = context.frames.corpus.conversations;
    this.#context = context;
    this.#result = result;
    this.#candidateValues = context.names.map((name) => CANDIDATE_VALUES[name]);
    this.#queryValues = context.names.map((name) => QUERY_VALUES[name]);
    this.#firstPairs = new Int32Array(length).fill(-1);
  }

  /** @param start of the query's pairs, and `end` their end. */
  write(query: number, positions: Int32Array, start: number, end: number): void {
    const { frames, points } = this.#context;
    const { conversationOf, ringPosition } = frames.corpus;
    this.#join(query, positions, start, end, findQueryCutoff(frames, points, query));
    for (let pair = start; pair < end; pair++) {
      const position = positions[pair] as number;
      if (position < 0) continue;
      const first = this.#firstPairs[conversationOf[position] as number] as number;
      const frame = this.#frames[first - start] as Frame;
      if (first === pair) this.#writeQuery(frame, pair);
      else this.#copyQuery(first, pair);
      this.#writePair(frame, pair, ringPosition[position] as number);
    }
  }

  /** Builds the frames of the conversations of a query's candidates. @param cutoff of the turns that it may see. */
  #join(query: number, positions: Int32Array, start: number, end: number, cutoff: number): void {
    const { conversationOf } = this.#context.frames.corpus;
    const joined: Frame[] = [];
    for (let pair = start; pair < end; pair++) {
      const position = positions[pair] as number;
      if (position < 0) continue;
      if (position >= cutoff)
        throw new ValidationError(
          `candidate is not earlier than query ${query}: ${position}; pass earlier turns only`,
          { query, position },
        );
      const conversation = conversationOf[position] as number;
      if ((this.#firstPairs[conversation] as number) >= start) continue;
      this.#firstPairs[conversation] = pair;
      const frame = buildFrame(this.#context, query, conversation);
      this.#frames[pair - start] = frame;
      joined.push(frame);
    }
    measureHomogeneities(this.#context, query, joined);
  }

  /** Writes the query's coordinates in a frame. */
  #writeQuery(frame: Frame, pair: number): void {
    const values = this.#queryValues;
    for (let i = 0, at = pair * values.length; i < values.length; i++, at++)
      this.#result.queries[at] = (values[i] as (typeof values)[0])(this.#context, frame);
  }

  #copyQuery(from: number, pair: number): void {
    const { queries, names } = this.#result;
    for (let i = 0; i < names.length; i++)
      queries[pair * names.length + i] = queries[from * names.length + i] as number;
  }

  #writePair(frame: Frame, pair: number, ringPosition: number): void {
    const result = this.#result;
    const values = this.#candidateValues;
    for (let i = 0, at = pair * values.length; i < values.length; i++, at++)
      result.candidates[at] = (values[i] as (typeof values)[0])(this.#context, frame, ringPosition);
    const steps = frame.turns - ringPosition;
    result.turns[pair] = frame.turns;
    result.ringPositions[pair] = ringPosition;
    result.lineDistances[pair] = steps;
    result.ringDistances[pair] = Math.min(steps, frame.turns + 1 - steps);
    result.coldStart[pair] = frame.turns < COLD_START_TURNS ? 1 : 0;
  }
}
