import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { benjaminiHochberg, bonferroni, holm } from './multiple-comparisons.ts';

test('a worked example', () => {
  const ps = [0.01, 0.04, 0.03, 0.005];
  const close = (values: number[]) => values.map((value) => Number(value.toFixed(12)));
  expect(close(bonferroni(ps))).toEqual([0.04, 0.16, 0.12, 0.02]);
  expect(close(holm(ps))).toEqual([0.03, 0.06, 0.06, 0.02]);
  expect(close(benjaminiHochberg(ps))).toEqual([0.02, 0.04, 0.04, 0.02]);
});

const probabilities = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 17 });

describe.each(Object.entries({ bonferroni, holm, benjaminiHochberg }))('%s', (_, correct) => {
  test('never lowers a p, stays a probability and keeps the order', () => {
    fc.assert(
      fc.property(probabilities, (ps) => {
        const corrected = correct(ps);
        expect(corrected).toHaveLength(ps.length);
        for (const [i, p] of ps.entries()) {
          expect(corrected[i]).toBeGreaterThanOrEqual(p);
          expect(corrected[i]).toBeLessThanOrEqual(1);
          for (const [j, q] of ps.entries())
            if (p <= q) expect(corrected[i]).toBeLessThanOrEqual(corrected[j] as number);
        }
      }),
    );
  });

  test('leaves a single p alone and refuses what is no probability', () => {
    expect(correct([0.3])).toEqual([0.3]);
    expect(() => correct([0.3, 1.5])).toThrow(
      expect.objectContaining({ name: 'ValidationError', message: 'p is not in 0 to 1: 1.5; pass probabilities' }),
    );
    expect(() => correct([Number.NaN])).toThrow(ValidationError);
  });
});

test('Holm lies between Benjamini-Hochberg and Bonferroni', () => {
  fc.assert(
    fc.property(probabilities, (ps) => {
      const [low, middle, high] = [benjaminiHochberg(ps), holm(ps), bonferroni(ps)];
      for (const i of ps.keys()) {
        expect(low[i]).toBeLessThanOrEqual((middle[i] as number) + 1e-12);
        expect(middle[i]).toBeLessThanOrEqual((high[i] as number) + 1e-12);
      }
    }),
  );
});
