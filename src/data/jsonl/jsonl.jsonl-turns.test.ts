import { describe, expect, it } from 'vitest';
import { selectSoundTurns } from './jsonl.ts';
import { RowFaults, type TurnRow } from './jsonl-rows.ts';

const buildTurnRow = (id: string, parentId: string | null, timestamp: number, conversationId = 'c'): TurnRow => ({
  id,
  conversationId,
  parentId,
  timestamp,
  author: null,
  channel: null,
  text: id,
});

const TREE = [buildTurnRow('b', 'a', 300), buildTurnRow('r', null, 100), buildTurnRow('a', 'r', 200)];

/** The ids that stay, and the faults as `line: kind: detail`. */
function read(rows: readonly TurnRow[]) {
  const faults = new RowFaults();
  const placed = rows.map((row, i) => ({ where: `${i + 1}`, row }));
  const kept = selectSoundTurns(placed, faults).map(({ id }) => id);
  return { kept, faults: faults.list.map(({ where, kind, detail }) => `${where}: ${kind}: ${detail}`) };
}

describe('selectSoundTurns', () => {
  it('keeps a tree in the order of the file', () => {
    expect(read(TREE)).toEqual({ kept: ['b', 'r', 'a'], faults: [] });
  });

  it('takes a child of the same moment as its parent', () => {
    expect(read([buildTurnRow('r', null, 1), buildTurnRow('a', 'r', 1)]).faults).toEqual([]);
  });

  it.each<[string, TurnRow[], string[]]>([
    ['a duplicate id', [buildTurnRow('a', 'r', 250)], ['4: duplicate id: a']],
    ['a missing parent', [buildTurnRow('x', 'gone', 400)], ['4: missing parent: gone']],
    [
      'a parent in another conversation',
      [buildTurnRow('x', 'r', 250, 'e')],
      ['4: parent in another conversation: e and c'],
    ],
    ['a child before its parent', [buildTurnRow('x', 'b', 299)], ['4: before its parent: b']],
    [
      'what hangs from a faulty turn, at any depth',
      [buildTurnRow('z', 'y', 500), buildTurnRow('x', 'gone', 400), buildTurnRow('y', 'x', 400)],
      ['5: missing parent: gone', '4: hangs from a faulty turn: x', '6: hangs from a faulty turn: x'],
    ],
    [
      'a cycle with a tail',
      [buildTurnRow('x', 'y', 400), buildTurnRow('y', 'x', 400), buildTurnRow('z', 'y', 500)],
      ['4: its own ancestor, a cycle: x', '5: its own ancestor, a cycle: y', '6: hangs from a faulty turn: y'],
    ],
    ['its own parent', [buildTurnRow('x', 'x', 400)], ['4: its own ancestor, a cycle: x']],
  ])('leaves out %s', (_, rows, faults) => {
    expect(read([...TREE, ...rows])).toEqual({ kept: ['b', 'r', 'a'], faults });
  });
});

describe('50,000 turns that reach no root', () => {
  const COUNT = 50_000;
  const buildTurnChain = (first: string, parentOfFirst: string) =>
    Array.from({ length: COUNT }, (_, i) =>
      buildTurnRow(i === 0 ? first : `t${i}`, i === 0 ? parentOfFirst : `t${i - 1}`, i),
    );

  it.each<[string, string, string, string]>([
    ['a branch under a faulty turn', 't0', 'gone', 'hangs from a faulty turn: t0'],
    ['a cycle', 't0', `t${COUNT - 1}`, `its own ancestor, a cycle: t${COUNT - 1}`],
  ])('are read at once: %s', (_, first, parent, last) => {
    const rows = buildTurnChain(first, parent).map((row) => ({ ...row, timestamp: 0 }));
    const { kept, faults } = read(rows);
    expect(kept).toEqual([]);
    expect(faults).toHaveLength(COUNT);
    expect(faults.at(-1)).toBe(`${COUNT}: ${last}`);
  });
});
