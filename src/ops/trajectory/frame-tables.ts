import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { computeRowWidth } from '../../core/tensors/rows.ts';
import { type Corpus, listConversationPositions } from '../../model/turns/corpus.ts';
import { assertComponents } from './coordinates.ts';
import { computeHomogeneities, computeSquaredLengths } from './homogeneity.ts';

/**
 * Raw values of each turn, and statistics of its conversation at the time when the turn was its newest: the inputs of coordinates at any time
 * without rebuilding a tree. Arrays are indexed by corpus position, [N].
 */
export interface FrameTables {
  readonly corpus: Corpus;
  /** Row-major [N, dimension]. */
  readonly vectors: Float32Array;
  readonly dimension: number;
  /** [N] squared lengths of the vectors. */
  readonly squares: Float64Array;
  /** For each conversation the positions of its turns, ascending. */
  readonly conversations: readonly Int32Array[];
  /** Positions of the parents, -1 for a root. */
  readonly parent: Int32Array;
  /** Edges from the root. */
  readonly depth: Int32Array;
  readonly components: Int32Array;
  /** Cosine to the parent clipped to [0, 1], 1 for a root. */
  readonly homogeneity: Float64Array;
  /** Index in the sibling group, which later siblings don't change. */
  readonly siblingIndex: Int32Array;
  /** The sibling group: the parent's position, or N + the conversation for a root. */
  readonly group: Int32Array;
  /** For each group the positions of its members, ascending. */
  readonly members: readonly (readonly number[])[];
  /** Greatest depth, components, sibling group and number of children among the turn and all earlier ones of its conversation. */
  readonly deepest: Int32Array;
  readonly mostComponents: Int32Array;
  readonly largestGroup: Int32Array;
  readonly mostChildren: Int32Array;
}

/** Edges from each turn to its root. @param parent [N] positions, -1 for a root; of two turns of one moment the child may stand first. */
export function computeDepths(parent: Int32Array): Int32Array {
  const depth = new Int32Array(parent.length).fill(-1);
  for (let start = 0; start < parent.length; start++) {
    const path: number[] = [];
    for (let at = start; at >= 0 && (depth[at] as number) < 0; at = parent[at] as number) path.push(at);
    for (const turn of path.reverse()) {
      const above = parent[turn] as number;
      depth[turn] = above < 0 ? 0 : (depth[above] as number) + 1;
    }
  }
  return depth;
}

/**
 * One pass over the corpus in time order, O(N D).
 *
 * @param vectors row-major [N, D]
 * @param components [N] semantic components of each turn
 * @param parent [N] positions in the same conversation, not later ones but those of the same moment, -1 for a root; the corpus's where it is left out
 * @throws DimensionMismatchError when an array does not fit the corpus, ValidationError for fewer than 1 component.
 */
export function buildFrameTables(
  corpus: Corpus,
  vectors: Float32Array,
  components: Int32Array,
  parent: Int32Array = corpus.parent,
): FrameTables {
  const { size, conversationOf, ringPosition } = corpus;
  if (components.length !== size) throw new DimensionMismatchError('components of the corpus', size, components.length);
  if (parent.length !== size) throw new DimensionMismatchError('parents of the corpus', size, parent.length);
  const dimension = computeRowWidth('vectors of the corpus', vectors, size);
  const conversations = listConversationPositions(corpus);
  const members: number[][] = Array.from({ length: size + conversations.length }, () => []);
  const tables = {
    depth: computeDepths(parent),
    siblingIndex: new Int32Array(size),
    group: new Int32Array(size),
    deepest: new Int32Array(size),
    mostComponents: new Int32Array(size),
    largestGroup: new Int32Array(size),
    mostChildren: new Int32Array(size),
  };
  for (let i = 0; i < size; i++) {
    const above = parent[i] as number;
    const ring = ringPosition[i] as number;
    const conversation = conversationOf[i] as number;
    const before = ring === 0 ? -1 : ((conversations[conversation] as Int32Array)[ring - 1] as number);
    const takeMost = (table: Int32Array, own: number) => Math.max(own, before < 0 ? 0 : (table[before] as number));
    assertComponents(components[i] as number, corpus.turns[i]?.id as string);
    const group = above < 0 ? size + conversation : above;
    const index = (members[group] as number[]).push(i) - 1;
    tables.group[i] = group;
    tables.siblingIndex[i] = index;
    tables.deepest[i] = takeMost(tables.deepest, tables.depth[i] as number);
    tables.mostComponents[i] = takeMost(tables.mostComponents, components[i] as number);
    tables.largestGroup[i] = takeMost(tables.largestGroup, index + 1);
    tables.mostChildren[i] = takeMost(tables.mostChildren, above < 0 ? 0 : index + 1);
  }
  const squares = computeSquaredLengths(vectors, dimension, size);
  const homogeneity = computeHomogeneities(vectors, squares, dimension, parent);
  return { corpus, vectors, dimension, squares, conversations, components, parent, homogeneity, members, ...tables };
}
