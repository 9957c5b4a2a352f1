import { findLowerBound } from '../../model/turns/corpus.ts';
import { type CorpusFrames, groupOf } from './frame-tables.ts';

/** The tree of a conversation's first turns, as coordinates ask about it; turns go by their ring positions. */
export interface ConversationTree {
  /** Greatest depth, sibling group and number of children. */
  readonly deepest: number;
  readonly largestGroup: number;
  readonly mostChildren: number;
  /** -1 for a root. */
  parent(turn: number): number;
  /** Edges from the root. */
  depth(turn: number): number;
  /** Index among the siblings, which are in time order. */
  siblingIndex(turn: number): number;
  /** Size of the sibling group, the turn itself included; roots are each other's siblings. */
  siblings(turn: number): number;
  children(turn: number): number;
  /** Cosine to the parent clipped to [0, 1], 1 for a root. */
  homogeneity(turn: number): number;
}

/** The tree of the first `turns` turns of a conversation. Later turns must not affect it. */
export type TreeAsOf = (conversation: number, turns: number) => ConversationTree;

/** Trees at any time from tables of all turns: a number of children is one binary search. */
export function createTreesAsOf(frames: Pick<CorpusFrames, 'tables'>): TreeAsOf {
  return (conversation, turns) => {
    const tables = frames.tables(conversation);
    const newest = turns - 1;
    const { members, starts } = tables;
    const countMembers = (group: number) =>
      findLowerBound(members, turns, starts[group], starts[group + 1]) - (starts[group] as number);
    return {
      deepest: tables.deepest[newest] as number,
      largestGroup: tables.largestGroup[newest] as number,
      mostChildren: tables.mostChildren[newest] as number,
      parent: (turn) => tables.parent[turn] as number,
      depth: (turn) => tables.depth[turn] as number,
      siblingIndex: (turn) => tables.siblingIndex[turn] as number,
      siblings: (turn) => countMembers(groupOf(tables.parent, turn)),
      children: countMembers,
      homogeneity: (turn) => tables.homogeneity[turn] as number,
    };
  };
}
