import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { computeRowWidth, gatherRows } from '../../core/tensors/rows.ts';
import { getOrCompute, type Keeper } from '../../core/values/once.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import { type Corpus, listPositions } from '../../model/turns/corpus.ts';
import { assertComponents } from './coordinates.ts';
import { computeHomogeneities, computeSquaredLengths } from './homogeneity.ts';

/** The numbers in a row of {@link FrameTables}. */
export const ROW_WIDTH = 16;

/**
 * The numbers of a turn by their places in its row, and statistics of its conversation at the time when the turn was
 * the newest: the inputs of coordinates at any time, without rebuilding a tree.
 */
export const ROW = {
  /** Milliseconds since 1970, and those of the first turn of the conversation. */
  timestamp: 0,
  start: 1,
  /** Squared length of the vector. */
  square: 2,
  /** Ring position of the parent, -1 for a root. */
  parent: 3,
  /** Edges from the root. */
  depth: 4,
  components: 5,
  /** Cosine to the parent clipped to [0, 1], 1 for a root. */
  homogeneity: 6,
  /** Index in the sibling group, which later siblings don't change. */
  siblingIndex: 7,
  /** The number of turns in the sibling group, itself included, and the last of them, later turns included. */
  siblings: 8,
  lastSibling: 9,
  /** The number of children and the last of them, -1 if there is none, later turns included. */
  children: 10,
  lastChild: 11,
  /** Greatest depth, components, sibling group and number of children among the turn and all earlier ones. */
  deepest: 12,
  mostComponents: 13,
  largestGroup: 14,
  mostChildren: 15,
} as const;

/** The tables of one conversation of n turns. */
export interface FrameTables {
  /** Row-major [n, {@link ROW_WIDTH}] by ring position: what is read of a turn lies together. */
  readonly rows: Float64Array;
  /** [n] ring positions by sibling group, see {@link groupOf}, ascending in each. */
  readonly members: Int32Array;
  /** [n + 2] the place in `members` at which each group begins. */
  readonly starts: Int32Array;
}

/** A number of a turn. @param turn its ring position. */
export function readField({ rows }: FrameTables, field: keyof typeof ROW, turn: number): number {
  return rows[turn * ROW_WIDTH + ROW[field]] as number;
}

/** The number of turns of a conversation that are earlier than a moment, in milliseconds. One comparison if all are. */
export function countTurnsBefore({ rows }: FrameTables, moment: number): number {
  let [low, high] = [0, rows.length / ROW_WIDTH];
  if ((rows[rows.length - ROW_WIDTH + ROW.timestamp] as number) < moment) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle * ROW_WIDTH + ROW.timestamp] as number) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The tables of all conversations of a corpus, from which coordinates are computed. */
export interface CorpusFrames {
  readonly corpus: Corpus;
  /** Row-major [N, D]. */
  readonly vectors: Float32Array;
  /** D */
  readonly dimension: number;
  /** The tables of a conversation. */
  readonly tables: (conversation: number) => FrameTables;
  /** [n] corpus positions of the turns of a conversation. */
  readonly positions: (conversation: number) => Int32Array;
}

/** Edges from each turn to its root. @param parent [N] positions, -1 for a root; of two turns of one moment the child may stand first. */
export function computeDepths(parent: Int32Array): Int32Array {
  return fillDepths(new Int32Array(parent.length), parent);
}

/** Fills in the depths of the turns from the first that lacks one, whose parents may be before that. */
export function fillDepths(depth: Int32Array, parent: Int32Array, first = 0): Int32Array {
  depth.fill(-1, first);
  for (let start = first; start < parent.length; start++) {
    const path: number[] = [];
    for (let at = start; at >= 0 && (depth[at] as number) < 0; at = parent[at] as number) path.push(at);
    for (const turn of path.reverse()) {
      const above = parent[turn] as number;
      depth[turn] = above < 0 ? 0 : (depth[above] as number) + 1;
    }
  }
  return depth;
}

/** The sibling group of a turn: the ring position of its parent, n for a root. @param parent [n] */
export function groupOf(parent: Int32Array, turn: number): number {
  const above = parent[turn] as number;
  return above < 0 ? parent.length : above;
}

/** The ring position of the parent of each turn of a conversation, -1 for a root. [n] */
export function listRingParents({ turns }: Pick<Conversation, 'turns'>): Int32Array {
  const ring = new Map(turns.map(({ id }, i) => [id, i]));
  return Int32Array.from(turns, ({ parentId }) => (parentId === null ? -1 : (ring.get(parentId) as number)));
}

/**
 * One pass over a conversation in time order, O(n D).
 *
 * @param vectors row-major [n, D]
 * @param components [n] semantic components of each turn
 * @param parent [n] ring positions, not later ones but those of the same moment, -1 for a root; by default those of the
 *   conversation
 * @throws DimensionMismatchError when an array does not fit the conversation, ValidationError for fewer than 1
 *   component.
 */
export function buildFrameTables(
  conversation: Pick<Conversation, 'id' | 'turns'>,
  vectors: Float32Array,
  components: Int32Array,
  parent: Int32Array = listRingParents(conversation),
): FrameTables {
  const { turns } = conversation;
  const size = turns.length;
  const what = `of conversation ${conversation.id}`;
  if (components.length !== size) throw new DimensionMismatchError(`components ${what}`, size, components.length);
  if (parent.length !== size) throw new DimensionMismatchError(`parents ${what}`, size, parent.length);
  const dimension = computeRowWidth(`vectors ${what}`, vectors, size);
  const depth = computeDepths(parent);
  const squares = computeSquaredLengths(vectors, dimension, size);
  const homogeneity = computeHomogeneities(vectors, squares, dimension, parent);
  const { members, starts } = groupSiblings(parent);
  const rows = new Float64Array(size * ROW_WIDTH);
  const sizes = new Int32Array(size + 1);
  let [deepest, mostComponents, largestGroup, mostChildren] = [0, 0, 0, 0];
  for (let i = 0; i < size; i++) {
    assertComponents(components[i] as number, turns[i]?.id as string);
    const group = groupOf(parent, i);
    const [start, end, first, last] = [starts[group]!, starts[group + 1]!, starts[i]!, starts[i + 1]!];
    const index = sizes[group]!++;
    deepest = Math.max(deepest, depth[i]!);
    mostComponents = Math.max(mostComponents, components[i]!);
    largestGroup = Math.max(largestGroup, index + 1);
    mostChildren = Math.max(mostChildren, group === size ? 0 : index + 1);
    // In the order of ROW.
    rows.set(
      [
        ...[turns[i]!.timestamp, turns[0]!.timestamp, squares[i]!, parent[i]!],
        ...[depth[i]!, components[i]!, homogeneity[i]!, index],
        ...[end - start, members[end - 1]!, last - first, last > first ? members[last - 1]! : -1],
        ...[deepest, mostComponents, largestGroup, mostChildren],
      ],
      i * ROW_WIDTH,
    );
  }
  return { rows, members, starts };
}

/** The turns by sibling group. @param parent [n] */
function groupSiblings(parent: Int32Array): Pick<FrameTables, 'members' | 'starts'> {
  const size = parent.length;
  const starts = new Int32Array(size + 2);
  for (let i = 0; i < size; i++) starts[groupOf(parent, i) + 1]!++;
  for (let group = 0; group <= size; group++) starts[group + 1]! += starts[group]!;
  const ends = starts.slice();
  const members = new Int32Array(size);
  for (let i = 0; i < size; i++) members[ends[groupOf(parent, i)]!++] = i;
  return { members, starts };
}

interface FrameChoices {
  readonly kept?: Keeper<Conversation, FrameTables>;
  readonly findParents?: (conversation: number) => Int32Array;
}

/**
 * The frames of a corpus, each conversation's at its first use.
 *
 * @param vectors row-major [N, D]
 * @param components [N] semantic components of each turn
 * @param kept where the tables of conversations are kept.
 * @param findParents the ring positions of the parents of a conversation's turns; its own where it is left out.
 * @throws DimensionMismatchError when an array does not fit the corpus.
 */
export function openFrames(
  corpus: Corpus,
  vectors: Float32Array,
  components: Int32Array,
  { kept = new WeakMap(), findParents }: FrameChoices = {},
): CorpusFrames {
  const dimension = computeRowWidth('vectors of the corpus', vectors, corpus.size);
  if (components.length !== corpus.size)
    throw new DimensionMismatchError('components of the corpus', corpus.size, components.length);
  const { length } = corpus.conversations; // a list that grows by far places is a dictionary
  const [known, places] = [new Array<FrameTables>(length), new Array<Int32Array>(length)];
  const positions = (place: number) => (places[place] ??= listPositions(corpus, place));
  const build = (place: number) => {
    const own = listPositions(corpus, place);
    const counts = own.map((position) => components[position] as number);
    const conversation = corpus.conversations[place] as Conversation;
    return buildFrameTables(conversation, gatherRows(vectors, dimension, own), counts, findParents?.(place));
  };
  const find = (place: number) => getOrCompute(kept, corpus.conversations[place] as Conversation, () => build(place));
  const tables = (place: number) => (known[place] ??= find(place));
  return { corpus, vectors, dimension, tables, positions };
}
