import { expect, test } from 'vitest';
import { combinations, expandArms, fileName } from './arms.ts';

test('an arm takes over what it extends, through several steps, but not what is its own', () => {
  const { arms, faults } = expandArms([
    { name: 'a', description: 'A', decay: { halfLifeHours: 24 }, candidates: [1, 2], tune: { x: [1] } },
    { name: 'b', extends: 'a', trajectory: { weight: 0.3 } },
    { name: 'c', extends: 'b', decay: null, candidates: [3] },
  ]);
  expect(faults).toEqual([]);
  expect(arms[1]).toEqual({
    name: 'b',
    extends: 'a',
    decay: { halfLifeHours: 24 },
    candidates: [1, 2],
    trajectory: { weight: 0.3 },
  });
  expect(arms[2]).toEqual({ name: 'c', extends: 'b', decay: null, candidates: [3], trajectory: { weight: 0.3 } });
});

test('every arm that extends one that is not before it is named, with the nearest', () => {
  const { arms, faults } = expandArms([
    { name: 'hybrid', extends: 'hybrid' },
    { name: 'x', extends: 'hybird' },
  ]);
  expect(faults).toEqual([
    { path: 'arms[0].extends', expected: 'an arm before it (there is none)', got: '"hybrid"' },
    { path: 'arms[1].extends', expected: 'an arm before it (hybrid)', got: '"hybird"', nearest: 'hybrid' },
  ]);
  expect(arms).toHaveLength(2);
});

test('a grid is all combinations, the last path changing fastest', () => {
  expect(combinations({ a: [1, 2], 'b.c': ['x', 'y'] })).toEqual([
    { a: 1, 'b.c': 'x' },
    { a: 1, 'b.c': 'y' },
    { a: 2, 'b.c': 'x' },
    { a: 2, 'b.c': 'y' },
  ]);
  expect(combinations({})).toEqual([{}]);
});

test('a file name keeps letters and digits', () => {
  expect(['+ IRCP, directed', 'bm25 × 24 h', 'Zeit-Verfall'].map(fileName)).toEqual([
    'ircp-directed',
    'bm25-24-h',
    'zeit-verfall',
  ]);
});
