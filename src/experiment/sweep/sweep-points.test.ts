import { expect, test } from 'vitest';
import type { Factor } from './sweep-factors.ts';
import { type SweepOptions, sweepOptions } from './sweep-options.ts';
import { labelOf, pointsOf, sizeOf } from './sweep-points.ts';

const factor = (name: string, ...levels: string[]): Factor => ({
  name,
  range: null,
  levels: levels.map((level) => ({ name: level, layer: { place: [], at: [name], content: level } })),
});
const factors = [factor('a', '1', '2'), factor('b', 'x', 'y', 'z'), factor('c', '3', '5', '7', '11', '13')];
const sweep = (method: string, more: object = {}): SweepOptions =>
  sweepOptions.parse({ method, arm: 'start', factors: { a: [1] }, ...more });
const labels = (options: SweepOptions) => pointsOf(options, factors, 3).map(labelOf);

/** Written out as three loops. */
const everyPoint = ['1', '2'].flatMap((a) =>
  ['x', 'y', 'z'].flatMap((b) => ['3', '5', '7', '11', '13'].map((c) => `a=${a}, b=${b}, c=${c}`)),
);

test.each([
  [sweep('grid'), 30],
  [sweep('factorial'), 30],
  [sweep('one-factor'), 10],
  [sweep('random', { samples: 7 }), 7],
])('%o has the size that it says, and no point twice', (options, size) => {
  expect(sizeOf(options, factors)).toBe(size);
  expect(new Set(labels(options)).size).toBe(size);
  expect(labels(options)).toHaveLength(size);
});

test('points at random are points of the grid, and all of these where there are no more', () => {
  expect(everyPoint).toEqual(expect.arrayContaining(labels(sweep('random', { samples: 11 }))));
  expect(labels(sweep('random', { samples: 31 })).sort()).toEqual(everyPoint.toSorted());
});

test('a sweep draws by its own seed where it has one', () => {
  const drawn = (seed: number, own: object) =>
    pointsOf(sweep('random', { samples: 5, ...own }), factors, seed).map(labelOf);
  expect(drawn(3, { seed: 5 })).toEqual(drawn(5, {}));
  expect(drawn(3, { seed: 0 })).toEqual(drawn(0, {}));
  expect(drawn(3, {})).not.toEqual(drawn(5, {}));
});
