import { findLowerBound } from '../../model/turns/corpus.ts';
import { type CorpusFrames, type FrameTables, readField } from './frame-tables.ts';

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
  readonly turns: number;

  constructor(tables: FrameTables, turns: number) {
    this.tables = tables;
    this.turns = turns;
    this.deepest = readField(tables, 'deepest', turns - 1);
    this.largestGroup = readField(tables, 'largestGroup', turns - 1);
    this.mostChildren = readField(tables, 'mostChildren', turns - 1);
  }

  parent(turn: number): number {
    return readField(this.tables, 'parent', turn);
  }

  depth(turn: number): number {
    return readField(this.tables, 'depth', turn);
  }

  siblingIndex(turn: number): number {
    return readField(this.tables, 'siblingIndex', turn);
  }

  siblings(turn: number): number {
    if (readField(this.tables, 'lastSibling', turn) < this.turns) return readField(this.tables, 'siblings', turn);
    const parent = this.parent(turn);
    return this.#countMembers(parent < 0 ? this.tables.members.length : parent);
  }

  children(turn: number): number {
    if (readField(this.tables, 'lastChild', turn) < this.turns) return readField(this.tables, 'children', turn);
    return this.#countMembers(turn);
  }

  #countMembers(group: number): number {
    const { members, starts } = this.tables;
    const start = starts[group] as number;
    return findLowerBound(members, this.turns, start, starts[group + 1]) - start;
  }

  homogeneity(turn: number): number {
    return readField(this.tables, 'homogeneity', turn);
  }
}

/** Trees at any time from tables of all turns. */
export function createTreesAsOf(frames: Pick<CorpusFrames, 'tables'>): TreeAsOf {
  return (conversation, turns) => new TableTree(frames.tables(conversation), turns);
}
