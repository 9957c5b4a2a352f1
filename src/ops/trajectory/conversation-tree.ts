import { findLowerBound } from '../../model/turns/corpus.ts';
import { type CorpusFrames, type FrameTables, groupOf } from './frame-tables.ts';

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

/** A tree of the tables of all turns: a number of children is one binary search. */
class TableTree implements ConversationTree {
  readonly deepest: number;
  readonly largestGroup: number;
  readonly mostChildren: number;
  readonly tables: FrameTables;
  readonly turns: number;

  constructor(tables: FrameTables, turns: number) {
    this.tables = tables;
    this.turns = turns;
    this.deepest = tables.deepest[turns - 1] as number;
    this.largestGroup = tables.largestGroup[turns - 1] as number;
    this.mostChildren = tables.mostChildren[turns - 1] as number;
  }

  parent(turn: number): number {
    return this.tables.parent[turn] as number;
  }

  depth(turn: number): number {
    return this.tables.depth[turn] as number;
  }

  siblingIndex(turn: number): number {
    return this.tables.siblingIndex[turn] as number;
  }

  siblings(turn: number): number {
    return this.children(groupOf(this.tables.parent, turn));
  }

  children(group: number): number {
    const { members, starts } = this.tables;
    const start = starts[group] as number;
    return findLowerBound(members, this.turns, start, starts[group + 1]) - start;
  }

  homogeneity(turn: number): number {
    return this.tables.homogeneity[turn] as number;
  }
}

/** Trees at any time from tables of all turns. */
export function createTreesAsOf(frames: Pick<CorpusFrames, 'tables'>): TreeAsOf {
  return (conversation, turns) => new TableTree(frames.tables(conversation), turns);
}
