import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { multiplyChosenRows } from '../../core/tensors/row-products.ts';
import { countChildren, countSiblings, type TreeAsOf } from './conversation-tree.ts';
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

interface Context {
  readonly frames: CorpusFrames;
  readonly trees: TreeAsOf;
  readonly points: QueryPoints;
  /** [B] squared lengths of the query vectors. */
  readonly squares: Float64Array;
  readonly places: Places;
  readonly scale: ComplexityScale;
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

/**
 * Places of all coordinates among those that are computed, -1 for one that is not. Larger systems have the coordinates
 * of smaller ones.
 */
type Places = Readonly<Record<CoordinateName, number>>;

function listPlaces(names: readonly CoordinateName[]): Places {
  return Object.fromEntries(COORDINATES[7].map((name) => [name, names.indexOf(name)])) as Record<
    CoordinateName,
    number
  >;
}

/**
 * A conversation at a query's time, with the query as its next turn. Those of a query are filled in again for the next
 * one, so that a batch leaves few objects to the garbage collector.
 */
class Frame {
  turns = 0;
  #tables: FrameTables;
  /** Tables of the tree without the query. */
  #tree: FrameTables;
  /** Ring position of the turn that the query answers, and how many answers it had before. */
  #parent = 0;
  #answers = 0;
  /** Milliseconds of the first turn, and from there to the query. */
  #first = 0;
  #span = 0;
  #deepest = 0;
  #mostComponents = 0;
  #largestGroup = 0;
  #mostChildren = 0;

  constructor(tables: FrameTables) {
    this.#tables = tables;
    this.#tree = tables;
  }

  /** Takes in a query, and writes its coordinates from `at` on: it is the newest turn, and has no answer yet. */
  placeQuery(
    { frames, trees, points, squares, places, scale }: Context,
    query: number,
    conversation: number,
    { turns, parent, product }: { readonly turns: number; readonly parent: number; readonly product: number },
    into: Float32Array,
    at: number,
  ): void {
    const tables = frames.tables(conversation);
    const tree = trees(conversation, turns);
    const { rows } = tables;
    const newest = (turns - 1) * ROW_WIDTH;
    const depth = (tree.rows[parent * ROW_WIDTH + ROW.depth] as number) + 1;
    const answers = countChildren(tree, parent, turns);
    const components = points.components[query] as number;
    this.turns = turns;
    this.#tables = tables;
    this.#tree = tree;
    this.#parent = parent;
    this.#answers = answers;
    this.#first = rows[newest + ROW.start] as number;
    this.#span = (points.timestamps[query] as number) - this.#first;
    this.#deepest = Math.max(tree.rows[newest + ROW.deepest] as number, depth);
    this.#mostComponents = Math.max(rows[newest + ROW.mostComponents] as number, components);
    this.#largestGroup = Math.max(tree.rows[newest + ROW.largestGroup] as number, answers + 1);
    this.#mostChildren = Math.max(tree.rows[newest + ROW.mostChildren] as number, answers + 1);
    const square = rows[parent * ROW_WIDTH + ROW.square] as number;
    into[at + places.depth] = depth / this.#deepest;
    into[at + places.homogeneity] = clipCosine(product, squares[query] as number, square);
    into[at + places.temporal] = 1;
    if (places.complexity < 0) return;
    into[at + places.siblingOrder] = answers / Math.max(answers, 1);
    into[at + places.complexity] = scaleComplexity(components, this.#mostComponents, scale);
    if (places.childrenCount < 0) return;
    into[at + places.branchFactor] = (answers + 1) / this.#largestGroup;
    into[at + places.childrenCount] = 0;
  }

  /** Writes the coordinates of a candidate once the query is there. @param turn its ring position. */
  writeCandidate({ places, scale }: Context, turn: number, into: Float32Array, at: number): void {
    const { rows } = this.#tables;
    const tree = this.#tree;
    const own = turn * ROW_WIDTH;
    into[at + places.depth] = (tree.rows[own + ROW.depth] as number) / this.#deepest;
    into[at + places.homogeneity] = tree.rows[own + ROW.homogeneity] as number;
    into[at + places.temporal] = divideOrZero((rows[own + ROW.timestamp] as number) - this.#first, this.#span);
    if (places.complexity < 0) return;
    // Its sibling group, itself included, and the query if both answer the same turn.
    const isSibling = tree.rows[own + ROW.parent] === this.#parent;
    const siblings = isSibling ? this.#answers + 1 : countSiblings(tree, turn, this.turns);
    into[at + places.siblingOrder] = (tree.rows[own + ROW.siblingIndex] as number) / Math.max(siblings - 1, 1);
    into[at + places.complexity] = scaleComplexity(rows[own + ROW.components] as number, this.#mostComponents, scale);
    if (places.childrenCount < 0) return;
    into[at + places.branchFactor] = siblings / this.#largestGroup;
    const children = turn === this.#parent ? this.#answers + 1 : countChildren(tree, turn, this.turns);
    into[at + places.childrenCount] = children / this.#mostChildren;
  }
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
  const { trees = frames.tables, complexityScale: scale = 'log' } = options;
  const context: Context = { frames, trees, points, squares, places: listPlaces(names), scale };
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
      const at = pair * names.length;
      if (first === pair) {
        const conversation = conversationOf[position] as number;
        const joint = {
          turns: joints.turns[pair] as number,
          parent: joints.parents[pair] as number,
          product: products[pair] as number,
        };
        built[pair - start] ??= new Frame(frames.tables(conversation));
        (built[pair - start] as Frame).placeQuery(context, query, conversation, joint, result.queries, at);
      } else copyQuery(result, first, pair);
      const frame = built[first - start] as Frame;
      frame.writeCandidate(context, ringPosition[position] as number, result.candidates, at);
      writeSteps(result, frame.turns, pair, ringPosition[position] as number);
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

function writeSteps(result: QueryFrames, turns: number, pair: number, ringPosition: number): void {
  const steps = turns - ringPosition;
  result.turns[pair] = turns;
  result.ringPositions[pair] = ringPosition;
  result.lineDistances[pair] = steps;
  result.ringDistances[pair] = Math.min(steps, turns + 1 - steps);
  result.coldStart[pair] = turns < COLD_START_TURNS ? 1 : 0;
}
