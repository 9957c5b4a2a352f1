import { findLowerBound } from '../../model/turns/corpus.ts';
import { type FrameTables, ROW, ROW_WIDTH } from './frame-tables.ts';

/**
 * Tables of a conversation whose first `turns` turns have the tree that coordinates ask about. Later turns may be in
 * the tables, but must not affect what is read of the first turns.
 */
export type TreeAsOf = (conversation: number, turns: number) => FrameTables;

/** Members of a sibling group that are among the first `turns` turns. */
function countMembers({ members, starts }: FrameTables, group: number, turns: number): number {
  const start = starts[group] as number;
  return findLowerBound(members, turns, start, starts[group + 1]) - start;
}

/**
 * Size of the sibling group of a turn as of the first `turns` turns, the turn itself included; roots are each other's
 * siblings. One binary search where a later turn is in the group.
 */
export function countSiblings(tables: FrameTables, turn: number, turns: number): number {
  const { rows, members } = tables;
  const at = turn * ROW_WIDTH;
  if ((rows[at + ROW.lastSibling] as number) < turns) return rows[at + ROW.siblings] as number;
  const parent = rows[at + ROW.parent] as number;
  return countMembers(tables, parent < 0 ? members.length : parent, turns);
}

/** Children of a turn among the first `turns` turns. One binary search where a later turn is among them. */
export function countChildren(tables: FrameTables, turn: number, turns: number): number {
  const { rows } = tables;
  const at = turn * ROW_WIDTH;
  if ((rows[at + ROW.lastChild] as number) < turns) return rows[at + ROW.children] as number;
  return countMembers(tables, turn, turns);
}
