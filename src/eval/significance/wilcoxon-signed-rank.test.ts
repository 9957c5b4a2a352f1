import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wilcoxonSignedRank } from './wilcoxon-signed-rank.ts';

// scipy 1.17.1: wilcoxon(differences, method='exact') and method='approx'
const differences = [1.1, -0.4, 2.3, 0.7, -1.9, 3.1, 0.2, 1.7, -0.1, 2.9, 0.5];
const longer = [
  -0.702, -1.224, -0.148, 0.52, 1.236, 0.21, -0.453, -0.685, 0.849, 1.735, 0.373, -1.133, -0.858, 1.7, 0.303, -1.632,
  0.016, -1.063, -0.529, -0.388, -0.613, 0.653, 0.037, -0.489, 0.51, 0.93, -1.543, -0.157, -0.881,
];
const tied = [1, -2, 3, 0, 2, 2, -1, 4, 0, 5, -3, 2];

test('is exact for few distinct magnitudes', () => {
  expect(wilcoxonSignedRank(differences)).toEqual({ w: 12, p: 0.0673828125, method: 'exact' });
  const { w, p, method } = wilcoxonSignedRank(longer);
  expect([w, method]).toEqual([180, 'exact']);
  expect(p).toBeCloseTo(0.4293668270111084, 12);
});

test('takes the normal approximation where asked to, or where there are ties', () => {
  expect(wilcoxonSignedRank(differences, 'normal').p).toBeCloseTo(0.06188375105213765, 12);
  const { w, p, method } = wilcoxonSignedRank(tied);
  expect([w, method]).toEqual([13.5, 'normal']);
  expect(p).toBeCloseTo(0.15035933483833816, 12);
});

/** Tries every sign vector. */
function tryEverySign(values: readonly number[]): number {
  const magnitudes = values.map(Math.abs).sort((a, b) => a - b);
  const all = (values.length * (values.length + 1)) / 2;
  const takeSmaller = (positive: number) => Math.min(positive, all - positive);
  const observed = takeSmaller(values.reduce((sum, value) => sum + (value > 0 ? magnitudes.indexOf(value) + 1 : 0), 0));
  let hits = 0;
  for (let signs = 0; signs < 2 ** values.length; signs++) {
    let positive = 0;
    for (let rank = 1; rank <= values.length; rank++) if (signs & (1 << (rank - 1))) positive += rank;
    if (takeSmaller(positive) <= observed) hits++;
  }
  return Math.min(1, hits / 2 ** values.length);
}

test('the exact p is that of all sign vectors, and turning all signs changes nothing', () => {
  const values = fc.uniqueArray(fc.integer({ min: 1, max: 97 }), { minLength: 2, maxLength: 11 });
  fc.assert(
    fc.property(values, fc.array(fc.boolean(), { minLength: 11, maxLength: 11 }), (magnitudes, signs) => {
      const signed = magnitudes.map((magnitude, i) => (signs[i] ? magnitude : -magnitude));
      const { p } = wilcoxonSignedRank(signed);
      expect(p).toBeCloseTo(tryEverySign(signed), 12);
      expect(wilcoxonSignedRank(signed.map((value) => -value)).p).toBe(p);
    }),
  );
});

test('zero differences change nothing', () => {
  expect(wilcoxonSignedRank([0, ...differences, 0])).toEqual(wilcoxonSignedRank(differences));
});

test('magnitudes that differ by rounding alone are tied, and what is no more than rounding is no difference', () => {
  // As many gains as losses of 1/6: 1/3 - 1/6 and 1/3 - 1/2 differ in their last digit.
  const balanced = Array.from({ length: 20 }, (_, i) => 1 / 3 - (i % 2 === 0 ? 1 / 6 : 1 / 2));
  expect(Math.abs(balanced[0] as number)).not.toBe(Math.abs(balanced[1] as number));
  expect(wilcoxonSignedRank(balanced)).toEqual({ w: 105, p: 1, method: 'normal' });
  expect(wilcoxonSignedRank([0.1 + 0.2 - 0.3, ...differences])).toEqual(wilcoxonSignedRank(differences));
});

test('bit by bit, where that is asked for, all losses of them rank above all gains', () => {
  const balanced = Array.from({ length: 20 }, (_, i) => 1 / 3 - (i % 2 === 0 ? 1 / 6 : 1 / 2));
  const { w, p } = wilcoxonSignedRank(balanced, 'normal', 0);
  expect(w).toBe(55);
  expect(p).toBeCloseTo(0.05451504488687, 12); // scipy 1.17.1: wilcoxon(balanced, correction=False, method='approx')
});

test('has no evidence without a difference, and refuses an exact test with ties', () => {
  expect(wilcoxonSignedRank([0, 0, 0])).toEqual({ w: 0, p: 1, method: 'exact' });
  expect(() => wilcoxonSignedRank(tied, 'exact')).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: 'exact signed-rank test of 10 distinct magnitudes, more than 50; use the normal approximation',
    }),
  );
});
