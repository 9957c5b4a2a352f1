import { findLowerBound } from '../../model/turns/corpus.ts';
import type { FrameTables } from './frame-tables.ts';

/** The tree of a conversation's first turns, as coordinates ask about it; turns go by their corpus positions. */
export interface ConversationTree {
  /** Greatest depth, sibling group and number of children. */
  readonly deepest: number;
  readonly largestGroup: number;
  readonly mostChildren: number;
  /** -1 for a root. */
  parent(position: number): number;
  /** Edges from the root. */
  depth(position: number): number;
  /** Index among the siblings, which are in time order. */
  siblingIndex(position: number): number;
  /** Size of the sibling group, the turn itself included; roots are each other's siblings. */
  siblings(position: number): number;
  children(position: number): number;
  /** Cosine to the parent clipped to [0, 1], 1 for a root. */
  homogeneity(position: number): number;
}

/** The tree of the first `turns` turns of a conversation. Later turns must not affect it. */
export type TreeAsOf = (conversation: number, turns: number) => ConversationTree;

/** Trees at any time from tables of all turns: a number of children is one binary search. */
export function createTreesAsOf(tables: FrameTables): TreeAsOf {
  return (conversation, turns) => {
    const newest = (tables.conversations[conversation] as Int32Array)[turns - 1] as number;
    const countMembers = (group: number) => findLowerBound(tables.members[group] as readonly number[], newest + 1);
    return {
      deepest: tables.deepest[newest] as number,
      largestGroup: tables.largestGroup[newest] as number,
      mostChildren: tables.mostChildren[newest] as number,
      parent: (position) => tables.parent[position] as number,
      depth: (position) => tables.depth[position] as number,
      siblingIndex: (position) => tables.siblingIndex[position] as number,
      siblings: (position) => countMembers(tables.group[position] as number),
      children: countMembers,
      homogeneity: (position) => tables.homogeneity[position] as number,
    };
  };
}
