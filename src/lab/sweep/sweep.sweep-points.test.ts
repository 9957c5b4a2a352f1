import { expect, test } from 'vitest';
import { countSweepArms, formatPoint, listSweepPoints, type SweepOptions, sweepOptions } from './sweep.ts';
import type { Factor } from './sweep-factors.ts';

const buildFactor = (name: string, ...levels: string[]): Factor => ({
  name,
  range: null,
  levels: levels.map((level) => ({ name: level, layer: { keyPath: [], at: [name], content: level } })),
});
const factors = [
  buildFactor('a', '1', '2'),
  buildFactor('b', 'x', 'y', 'z'),
  buildFactor('c', '3', '5', '7', '11', '13'),
];
const parseSweep = (method: string, more: object = {}): SweepOptions =>
  sweepOptions.parse({ method, arm: 'start', factors: { a: [1] }, ...more });
const listLabels = (options: SweepOptions) => listSweepPoints(options, factors, 3).map(formatPoint);

/** Written out as three loops. */
const everyPoint = ['1', '2'].flatMap((a) =>
  ['x', 'y', 'z'].flatMap((b) => ['3', '5', '7', '11', '13'].map((c) => `a=${a}, b=${b}, c=${c}`)),
);

test.each([
  [parseSweep('grid'), 30],
  [parseSweep('factorial'), 30],
  [parseSweep('one-factor'), 10],
  [parseSweep('random', { samples: 7 }), 7],
])('%o has the size that it says, and no point twice', (options, size) => {
  expect(countSweepArms(options, factors)).toBe(size);
  expect(new Set(listLabels(options)).size).toBe(size);
  expect(listLabels(options)).toHaveLength(size);
});

test('points at random are points of the grid, and all of these where there are no more', () => {
  expect(everyPoint).toEqual(expect.arrayContaining(listLabels(parseSweep('random', { samples: 11 }))));
  expect(listLabels(parseSweep('random', { samples: 31 })).sort()).toEqual(everyPoint.toSorted());
});

test('a sweep draws by its own seed where it has one', () => {
  const listDrawnPoints = (seed: number, own: object) =>
    listSweepPoints(parseSweep('random', { samples: 5, ...own }), factors, seed).map(formatPoint);
  expect(listDrawnPoints(3, { seed: 5 })).toEqual(listDrawnPoints(5, {}));
  expect(listDrawnPoints(3, { seed: 0 })).toEqual(listDrawnPoints(0, {}));
  expect(listDrawnPoints(3, {})).not.toEqual(listDrawnPoints(5, {}));
});
