import { expect, test } from 'vitest';
import { getNormalisation, NORMALISATIONS, type NormalisationName } from './combination.ts';

const apply = (name: NormalisationName, column: readonly number[], held?: readonly number[]) => [
  ...getNormalisation(name).apply(Float64Array.from(column), Uint8Array.from(held ?? column.map(() => 1))),
];
const absent = Number.NaN;

test.each(NORMALISATIONS.names)('%s keeps the order of a list', (name) => {
  const normalised = apply(name, [0.5, 3, 1, 2]);
  expect([...normalised.keys()].sort((a, b) => (normalised[b] as number) - (normalised[a] as number))).toEqual([
    1, 3, 2, 0,
  ]);
});

test('the scales are those that the names state', () => {
  expect(apply('min-max', [2, 4, absent, 3])).toEqual([0, 1, absent, 0.5]);
  expect(apply('max', [2, 4, absent, 3])).toEqual([0.5, 1, absent, 0.75]);
  expect(apply('sum', [2, 4, absent, 3])).toEqual([0, 2 / 3, absent, 1 / 3]);
  expect(apply('zmuv', [2, 4, absent, 3])).toEqual([-Math.sqrt(1.5), Math.sqrt(1.5), absent, 0]);
  expect(apply('rank', [2, 4, absent, 3])).toEqual([1 - 2 / 3, 1, absent, 1 - 1 / 3]);
  expect(apply('none', [2, 4, absent, 3])).toEqual([2, 4, absent, 3]);
});

test('borda gives the mean of the ranks left to a candidate that another list holds, and nothing to others', () => {
  expect(apply('borda', [2, 4, absent, absent, absent], [1, 1, 1, 1, 0])).toEqual([0.75, 1, 0.375, 0.375, absent]);
});

test.each([
  ['min-max', 1],
  ['max', 1],
  ['sum', 0.5],
  ['zmuv', 0],
] as const)('equal scores have %s %d, also where their mean is rounded', (name, value) => {
  expect(apply(name, [0.1, absent, 0.1])).toEqual([value, absent, value]);
  expect(apply(name, [0.1, 0.1, 0.1]).every((one) => one === apply(name, [0.1, 0.1, 0.1])[0])).toBe(true);
});

test('an empty list stays empty', () => {
  for (const name of NORMALISATIONS.names) expect(apply(name, [absent, absent], [0, 0])).toEqual([absent, absent]);
});

test('max refuses a list whose largest score is not above 0, except one of zeros', () => {
  expect(apply('max', [0, 0])).toEqual([0, 0]);
  expect(() => apply('max', [-3, -1])).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: 'normalisation max divides by the largest score of the list, which is not above 0: -1; use min-max',
    }),
  );
});
