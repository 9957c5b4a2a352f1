import { expect, test } from 'vitest';
import { openPage } from '../page/page.harness.ts';
import type { ThreadRow } from './thread.ts';
import { buildEdgeTraces, layOutTree } from './thread-tree.ts';

/** Rows of an indented outline, two blanks a level; a star marks a turn. */
function layOutOutline(outline: string) {
  const lines = outline.split('\n').filter((line) => line.trim() !== '');
  const rows: ThreadRow[] = lines.map((line, turn) => ({
    turn,
    depth: (line.length - line.trimStart().length) / 2,
    isQuery: line.includes('query'),
  }));
  const nodes = layOutTree(rows, ({ turn }) => /\*|query/.test(lines[turn] as string));
  const name = (turn: number) => lines[turn]?.trim().replace(/\W/g, '');
  return nodes.map(({ turn, x, y, above, skipped }) => [name(turn), x, y, name(nodes[above]?.turn ?? -1), skipped]);
}

test('turns that lead nowhere are left out, and chains become one line', () => {
  const outline = `
root
  a
    b
      c *
        query
      d
  e
    f *
g
  h
`;
  expect(layOutOutline(outline)).toEqual([
    ['root', 0, 0, undefined, 0],
    ['c', 1, 0, 'root', 2],
    ['query', 2, 0, 'c', 0],
    ['f', 1, 1, 'root', 1],
    ['g', 0, 2, undefined, 0],
  ]);
});

test('a fork between marked turns is drawn, the first reply in its row and the others below', () => {
  const outline = `
root *
  fork
    left *
      deeper *
    right *
  last *
`;
  expect(layOutOutline(outline)).toEqual([
    ['root', 0, 0, undefined, 0],
    ['fork', 1, 0, 'root', 0],
    ['left', 2, 0, 'fork', 0],
    ['deeper', 3, 0, 'left', 0],
    ['right', 2, 1, 'fork', 0],
    ['last', 1, 2, 'root', 0],
  ]);
});

test('a deep chain is laid out without running out of stack', () => {
  const rows = Array.from({ length: 30_000 }, (_, turn) => ({ turn, depth: turn, isQuery: false }));
  const nodes = layOutTree(rows, ({ turn }) => turn === 29_999);
  expect(nodes.map(({ turn, skipped }) => [turn, skipped])).toEqual([
    [0, 0],
    [29_999, 29_998],
  ]);
});

test('edges go down and then right; those that leave turns out are dotted and numbered', () => {
  openPage(1400);
  const place = { turn: 0, isQuery: false, skipped: 0 };
  const nodes = [
    { ...place, x: 0, y: 0, above: -1 },
    { ...place, x: 1, y: 0, above: 0, skipped: 7 },
    { ...place, x: 1, y: 1, above: 0 },
  ];
  expect(buildEdgeTraces(nodes)).toMatchObject([
    { x: [0, 0, 1, null], y: [0, 1, 1, null], line: { dash: 'solid' } },
    { x: [0, 0, 1, null], y: [0, 0, 0, null], line: { dash: 'dot' } },
    { x: [0.5], text: ['+7'] },
  ]);
});
