import { DimensionMismatchError } from '../core/errors.ts';
import { rowWidth } from '../core/rows.ts';
import type { Conversation } from '../model/conversation.ts';
import { conversationPositions } from '../model/conversation-positions.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Turn } from '../model/turn.ts';
import { assertComponents } from './coordinates.ts';
import { homogeneities, squaresOf } from './homogeneity.ts';

/**
 * Raw figures of each turn, and statistics of its conversation as it stood when the turn was its newest: what coordinates as of any moment are made from
 * without rebuilding a tree. Arrays are indexed by corpus position, [N].
 */
export interface FrameTables {
  readonly corpus: Corpus;
  /** Row-major [N, dimension]. */
  readonly vectors: Float32Array;
  readonly dimension: number;
  /** Squared lengths of the vectors. */
  readonly squares: Float64Array;
  /** For each conversation the positions of its turns, ascending. */
  readonly conversations: readonly Int32Array[];
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

/**
 * One pass over the corpus in time order, O(N D).
 *
 * @param vectors row-major [N, D]
 * @param components [N] semantic components of each turn
 * @throws DimensionMismatchError when an array does not fit the corpus, ValidationError for fewer than 1 component.
 */
export function frameTables(corpus: Corpus, vectors: Float32Array, components: Int32Array): FrameTables {
  const { size, parent, conversationOf, ringPosition } = corpus;
  if (components.length !== size) throw new DimensionMismatchError('components of the corpus', size, components.length);
  const dimension = rowWidth('vectors of the corpus', vectors, size);
  const conversations = conversationPositions(corpus);
  const members: number[][] = Array.from({ length: size + conversations.length }, () => []);
  const tables = {
    depth: new Int32Array(size),
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
    const most = (table: Int32Array, own: number) => Math.max(own, before < 0 ? 0 : (table[before] as number));
    assertComponents(components[i] as number, corpus.turns[i]?.id as string);
    const group = above < 0 ? size + conversation : above;
    const index = (members[group] as number[]).push(i) - 1;
    tables.group[i] = group;
    tables.siblingIndex[i] = index;
    // Not one more than the parent's: of two turns of one moment the child may stand first.
    tables.depth[i] = (corpus.conversations[conversation] as Conversation).depth((corpus.turns[i] as Turn).id);
    tables.deepest[i] = most(tables.deepest, tables.depth[i] as number);
    tables.mostComponents[i] = most(tables.mostComponents, components[i] as number);
    tables.largestGroup[i] = most(tables.largestGroup, index + 1);
    tables.mostChildren[i] = most(tables.mostChildren, above < 0 ? 0 : index + 1);
  }
  const squares = squaresOf(vectors, dimension, size);
  const homogeneity = homogeneities(vectors, squares, dimension, parent);
  return { corpus, vectors, dimension, squares, conversations, components, homogeneity, members, ...tables };
}
