import { expect, test } from 'vitest';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { expectClose } from './gradient.oracle.ts';
import { assertStandardisation, fitStandardisation, standardiseSignals } from './standardisation.ts';

const drawn = drawHandmadeTable({ queries: 7, candidates: 5, clusters: 2, signals: ['a', 'b', 'c'], seed: 3 });
/** The last place of each row is padding, and b does not vary. */
const table = {
  ...drawn,
  mask: drawn.mask.map((_, pair) => Number(pair % 5 < 4)),
  values: drawn.values.map((value, i) => (Math.floor(i / 3) % 5 === 4 ? 0 : i % 3 === 1 ? 0.1 : value)),
};
const pairs = [...table.mask.keys()].filter((pair) => table.mask[pair] === 1);
const listSignalValues = (signal: number) => pairs.map((pair) => table.values[pair * 3 + signal]!);

test('mean and population deviation are over the candidates alone, and a constant signal has deviation 1', () => {
  const { means, deviations } = fitStandardisation(table, ['c', 'b']);
  const c = listSignalValues(2);
  const mean = c.reduce((sum, value) => sum + value, 0) / c.length;
  const variance = c.reduce((sum, value) => sum + (value - mean) ** 2, 0) / c.length;
  expectClose(means, [mean, Math.fround(0.1)], 1e-12);
  expectClose(deviations, [Math.sqrt(variance), 1], 1e-12);
});

test('standardised columns have mean 0 and deviation 1, and padding stays 0', () => {
  const rows = standardiseSignals(table, ['c', 'b'], fitStandardisation(table, ['c', 'b']));
  const c = pairs.map((pair) => rows[pair * 2]!);
  expect(c.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 5);
  expect(c.reduce((sum, value) => sum + value * value, 0) / c.length).toBeCloseTo(1, 5);
  for (const pair of pairs) expect(rows[pair * 2 + 1]).toBe(0);
  for (const [pair, bit] of table.mask.entries()) if (bit === 0) expect(rows[pair * 2]).toBe(0);
});

test('constants that are of no use are refused', () => {
  const two = fitStandardisation(table, ['a', 'b']);
  expect(() => assertStandardisation(two, ['a', 'b'])).not.toThrow();
  expect(() => assertStandardisation(two, ['a'])).toThrow('standardisation: expected 1 signals, got 2');
  expect(() => assertStandardisation({ ...two, deviations: Float64Array.of(1, Number.NaN) }, ['a', 'b'])).toThrow(
    'deviation of a signal is not positive: NaN; pass numbers above 0',
  );
});
