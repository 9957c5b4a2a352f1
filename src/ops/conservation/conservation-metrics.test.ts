import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { computeConservationMetrics } from './conservation-metrics.ts';
import { ConservationStream } from './conservation-stream.ts';

/** The definition itself: the double sum of the energy, shares first. */
function computeByDefinition(rows: readonly (readonly number[])[], salience: readonly number[]) {
  const total = salience.reduce((a, b) => a + b, 0);
  const shares = salience.map((weight) => weight / total);
  const lengths = rows.map((row) => Math.hypot(...row));
  let energy = 0;
  for (const [i, a] of rows.entries()) {
    for (const [j, b] of rows.entries()) {
      const dot = a.reduce((sum, value, k) => sum + value * (b[k] as number), 0);
      const lengthsOf = (lengths[i] as number) * (lengths[j] as number);
      if (lengthsOf > 0) energy += ((shares[i] as number) * (shares[j] as number) * dot) / lengthsOf / 2;
    }
  }
  return {
    magnitude: shares.reduce((sum, share, i) => sum + share * (lengths[i] as number), 0),
    energy,
    information: -shares.reduce((sum, share) => sum + (share === 0 ? 0 : share * Math.log(share)), 0),
  };
}

const flat = (rows: readonly (readonly number[])[]) => Float64Array.from(rows.flat());

describe('computeConservationMetrics', () => {
  test('is the definition, for zero rows, duplicates, opposites and zero salience too', () => {
    const source = createRandom(11, 'conservation-metrics.test');
    const [T, D] = [37, 13];
    const rows = Array.from({ length: T }, () => Array.from({ length: D }, () => 3 * source.drawNormal()));
    rows[5] = Array(D).fill(0);
    rows[7] = rows[6] as number[];
    rows[11] = (rows[10] as number[]).map((value) => -value);
    const salience = rows.map(() => source.uniform() ** 3 * 100);
    salience[2] = 0;
    const got = computeConservationMetrics(flat(rows), salience);
    const expected = computeByDefinition(rows, salience);
    expect(got.count).toBe(T);
    expect(got.magnitude).toBeCloseTo(expected.magnitude, 12);
    expect(got.energy).toBeCloseTo(expected.energy, 12);
    expect(got.coherence).toBeCloseTo(2 * expected.energy, 12);
    expect(got.information).toBeCloseTo(expected.information, 12);
    expect(got.informationBits).toBeCloseTo(expected.information / Math.log(2), 12);
  });

  test.each([
    ['no record', [], [], { count: 0, magnitude: 0, energy: 0, information: 0 }],
    ['one record', [[3, 4]], [7], { count: 1, magnitude: 5, energy: 0.5, information: 0 }],
    ['one zero record', [[0, 0]], [7], { count: 1, magnitude: 0, energy: 0, information: 0 }],
    [
      'two alike',
      [
        [0, 2],
        [0, 2],
      ],
      [1, 1],
      { count: 2, magnitude: 2, energy: 0.5, information: Math.log(2) },
    ],
    [
      'two opposed',
      [
        [0, 2],
        [0, -3],
      ],
      [1, 1],
      { count: 2, magnitude: 2.5, energy: 0, information: Math.log(2) },
    ],
    [
      'two at right angles',
      [
        [1, 0],
        [0, 1],
      ],
      [3, 3],
      { count: 2, magnitude: 1, energy: 0.25, information: Math.log(2) },
    ],
  ] as const)('%s', (_, rows, salience, expected) => {
    const { count, magnitude, energy, information } = computeConservationMetrics(flat(rows), salience);
    expect({ count, magnitude, energy, information: Math.round(information * 1e15) / 1e15 }).toEqual({
      ...expected,
      information: Math.round(expected.information * 1e15) / 1e15,
    });
  });

  test('energy lies in [0, 1/2], information in [0, ln n], and only shares of salience and directions count', () => {
    // Squares of much smaller numbers lose digits before they vanish.
    const number = fc.double({ min: -100, max: 100, noNaN: true }).map((value) => (Math.abs(value) < 1e-6 ? 0 : value));
    const record = fc.tuple(
      fc.array(number, { minLength: 3, maxLength: 3 }),
      fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
    );
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 23 }),
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        (records, scale) => {
          const salience = records.map(([, weight]) => weight);
          const metrics = computeConservationMetrics(flat(records.map(([row]) => row)), salience);
          expect(metrics.energy).toBeGreaterThanOrEqual(0);
          expect(metrics.energy).toBeLessThanOrEqual(0.5 + 1e-12);
          expect(metrics.information).toBeGreaterThanOrEqual(0);
          expect(metrics.information).toBeLessThanOrEqual(Math.log(records.length) + 1e-12);
          const scaled = computeConservationMetrics(
            flat(records.map(([row]) => row.map((value) => 5 * value))),
            salience.map((weight) => weight * scale),
          );
          expect(scaled.energy).toBeCloseTo(metrics.energy, 11);
          expect(scaled.information).toBeCloseTo(metrics.information, 11);
          expect(scaled.magnitude / 5).toBeCloseTo(metrics.magnitude, 9);
        },
      ),
    );
  });

  test.each([
    ['a negative salience', [1, -2], [1, 1, 1, 1], ValidationError, 'salience of record 1 is negative: -2'],
    ['no salience at all', [0, 0], [1, 1, 1, 1], ValidationError, 'salience of 2 records has no positive sum: 0'],
    [
      'a salience that is no number',
      [Number.NaN, 1],
      [1, 1, 1, 1],
      NotFiniteError,
      'salience is not finite at record 0: NaN',
    ],
    ['an endless salience', [1, Number.POSITIVE_INFINITY], [1, 1, 1, 1], NotFiniteError, 'record 1: Infinity'],
    ['saliences without a finite sum', [1e308, 1e308], [1, 1, 1, 1], NotFiniteError, 'sum of salience'],
    [
      'an embedding that is no number',
      [1, 1],
      [1, 1, Number.NaN, 1],
      NotFiniteError,
      'embedding is not finite at record 1: NaN',
    ],
    [
      'rows of two widths',
      [1, 1],
      [1, 1, 1],
      DimensionMismatchError,
      'embeddings: expected 2 rows of one width, got 3 numbers',
    ],
    [
      'embeddings without salience',
      [],
      [1, 1, 1],
      DimensionMismatchError,
      'embeddings: expected 0 rows of one width, got 3 numbers',
    ],
  ] as const)('refuses %s', (_, salience, embeddings, type, message) => {
    const measure = () => computeConservationMetrics(Float64Array.from(embeddings), salience);
    expect(measure).toThrow(type);
    expect(measure).toThrow(message);
  });
});

test('the metrics of a memory are a row of a table, and plain data as before', async () => {
  const metrics = computeConservationMetrics(Float64Array.of(1, 0, 0, 2), [1, 1]);
  const { 'text/plain': text, 'text/html': html } = await readDisplay(metrics);
  expect(text.split('\n').map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ['records', 'magnitude', 'energy', 'coherence', 'information (nats)', 'bits'],
    ['2', '1.500', '.2500', '.5000', '.6931', '1'],
  ]);
  expect(html).toContain('<table>');
  expect(Object.keys(metrics)).not.toContain('display');
});

test('so are those of an empty memory', async () => {
  const { 'text/plain': text } = await readDisplay(new ConservationStream(3).computeStreamMetrics());
  expect(text).toMatch(/\n +0 +0 +0 +0 +0 +0$/);
});
