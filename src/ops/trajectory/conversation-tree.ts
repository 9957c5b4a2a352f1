import { findLowerBound } from '../../model/turns/corpus.ts';
import { type CorpusFrames, type FrameTables, ROW, ROW_WIDTH } from './frame-tables.ts';

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

/** A tree of the tables of all turns: a number of children is one binary search where a later turn is among them. */
class TableTree implements ConversationTree {
  readonly deepest: number;
  readonly largestGroup: number;
  readonly mostChildren: number;
  readonly tables: FrameTables;
  readonly rows: Float64Array;
  readonly turns: number;

  constructor(tables: FrameTables, turns: number) {
    const { rows } = tables;
    this.tables = tables;
    this.rows = rows;
    this.turns = turns;
    const newest = (turns - 1) * ROW_WIDTH;
    this.deepest = rows[newest + ROW.deepest] as number;
    this.largestGroup = rows[newest + ROW.largestGroup] as number;
    this.mostChildren = rows[newest + ROW.mostChildren] as number;
  }

  parent(turn: number): number {
    return this.rows[turn * ROW_WIDTH + ROW.parent] as number;
  }

  depth(turn: number): number {
    return this.rows[turn * ROW_WIDTH + ROW.depth] as number;
  }

  siblingIndex(turn: number): number {
    return this.rows[turn * ROW_WIDTH + ROW.siblingIndex] as number;
  }

  siblings(turn: number): number {
    const at = turn * ROW_WIDTH;
    if ((this.rows[at + ROW.lastSibling] as number) < this.turns) return this.rows[at + ROW.siblings] as number;
    const parent = this.rows[at + ROW.parent] as number;
    return this.#countMembers(parent < 0 ? this.tables.members.length : parent);
  }

  children(turn: number): number {
    const at = turn * ROW_WIDTH;
    if ((this.rows[at + ROW.lastChild] as number) < this.turns) return this.rows[at + ROW.children] as number;
    return this.#countMembers(turn);
  }

  #countMembers(group: number): number {
    const { members, starts } = this.tables;
    const start = starts[group] as number;
    return findLowerBound(members, this.turns, start, starts[group + 1]) - start;
  }

  homogeneity(turn: number): number {
    return this.rows[turn * ROW_WIDTH + ROW.homogeneity] as number;
  }
}

/** Trees at any time from tables of all turns. */
export function createTreesAsOf(frames: Pick<CorpusFrames, 'tables'>): TreeAsOf {
  return (conversation, turns) => new TableTree(frames.tables(conversation), turns);
}
