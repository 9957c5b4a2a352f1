import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { computeRowWidth, gatherRows } from '../../core/tensors/rows.ts';
import { getOrCompute, type Keeper } from '../../core/values/once.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import { type Corpus, listPositions } from '../../model/turns/corpus.ts';
import { assertComponents } from './coordinates.ts';
import { computeHomogeneities, computeSquaredLengths } from './homogeneity.ts';

/**
 * Raw values of each turn of one conversation, and statistics of the conversation at the time when the turn was its
 * newest: the inputs of coordinates at any time without rebuilding a tree. Arrays are indexed by ring position, [n].
 */
export interface FrameTables {
  /** [n] milliseconds since 1970. */
  readonly timestamps: Float64Array;
  /** [n] squared lengths of the vectors. */
  readonly squares: Float64Array;
  /** Ring positions of the parents, -1 for a root. */
  readonly parent: Int32Array;
  /** Edges from the root. */
  readonly depth: Int32Array;
  readonly components: Int32Array;
  /** Cosine to the parent clipped to [0, 1], 1 for a root. */
  readonly homogeneity: Float64Array;
  /** Index in the sibling group, which later siblings don't change. */
  readonly siblingIndex: Int32Array;
  /** Ring positions by sibling group, see {@link groupOf}, ascending in each. */
  readonly members: Int32Array;
  /** [n + 2] the place in `members` at which each group begins. */
  readonly starts: Int32Array;
  /** Greatest depth, components, sibling group and number of children among the turn and all earlier ones. */
  readonly deepest: Int32Array;
  readonly mostComponents: Int32Array;
  readonly largestGroup: Int32Array;
  readonly mostChildren: Int32Array;
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
export function listRingParents({ turns }: Conversation): Int32Array {
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
  conversation: Conversation,
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
  const sizes = new Int32Array(size + 1);
  const tables = {
    depth: computeDepths(parent),
    siblingIndex: new Int32Array(size),
    deepest: new Int32Array(size),
    mostComponents: new Int32Array(size),
    largestGroup: new Int32Array(size),
    mostChildren: new Int32Array(size),
  };
  for (let i = 0; i < size; i++) {
    const above = parent[i] as number;
    const takeMost = (table: Int32Array, own: number) => Math.max(own, i === 0 ? 0 : (table[i - 1] as number));
    assertComponents(components[i] as number, turns[i]?.id as string);
    const index = sizes[groupOf(parent, i)]!++;
    tables.siblingIndex[i] = index;
    tables.deepest[i] = takeMost(tables.deepest, tables.depth[i] as number);
    tables.mostComponents[i] = takeMost(tables.mostComponents, components[i] as number);
    tables.largestGroup[i] = takeMost(tables.largestGroup, index + 1);
    tables.mostChildren[i] = takeMost(tables.mostChildren, above < 0 ? 0 : index + 1);
  }
  const starts = new Int32Array(size + 2);
  for (let group = 0; group <= size; group++) starts[group + 1] = starts[group]! + sizes[group]!;
  const members = new Int32Array(size);
  for (let i = 0; i < size; i++) members[starts[groupOf(parent, i)]! + tables.siblingIndex[i]!] = i;
  const squares = computeSquaredLengths(vectors, dimension, size);
  const homogeneity = computeHomogeneities(vectors, squares, dimension, parent);
  const timestamps = Float64Array.from(turns, ({ timestamp }) => timestamp);
  return { timestamps, squares, components, parent, homogeneity, members, starts, ...tables };
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
  const [known, places]: [FrameTables[], Int32Array[]] = [[], []];
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
