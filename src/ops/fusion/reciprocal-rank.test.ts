import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reciprocalRankFusion, reciprocalRankOptions } from './reciprocal-rank.ts';

const NONE = Number.NaN;
const defaults = reciprocalRankOptions.parse({ method: 'rrf' });

test('sums weight / (k + rank) over the sources that returned the candidate', () => {
  const columns = { a: Float64Array.of(0.2, NONE, 0.9, 0.5, NONE), b: Float64Array.of(NONE, 7, 1, NONE, NONE) };
  expect([...reciprocalRankFusion(columns, defaults)]).toEqual([1 / 63, 1 / 61, 1 / 61 + 1 / 62, 1 / 62, 0]);
  expect([...reciprocalRankFusion(columns, { ...defaults, k: 1, weights: { b: 3, a: 2 } })]).toEqual([
    2 / 4,
    3 / 2,
    2 / 2 + 3 / 3,
    2 / 3,
    0,
  ]);
  const [, , first] = reciprocalRankFusion(columns, { ...defaults, weights: { b: 0.5 } });
  expect(first).toBe(1 / 61 + 0.5 / 62);
});

test('of equal scores the earlier place ranks first', () => {
  expect([...reciprocalRankFusion({ a: Float64Array.of(1, 2, 1, 2, 1) }, defaults)]).toEqual(
    [3, 1, 4, 2, 5].map((rank) => 1 / (60 + rank)),
  );
});

test('depends on ranks alone: an increasing transformation of the scores of a source changes nothing', () => {
  const score = fc.oneof(fc.constant(NONE), fc.integer({ min: -50, max: 50 }));
  const column = fc.array(score, { minLength: 13, maxLength: 13 });
  fc.assert(
    fc.property(column, column, (a, b) => {
      const plain = reciprocalRankFusion({ a: Float64Array.from(a), b: Float64Array.from(b) }, defaults);
      const bent = reciprocalRankFusion(
        { a: Float64Array.from(a, (s) => s ** 3), b: Float64Array.from(b, Math.exp) },
        defaults,
      );
      expect([...bent]).toEqual([...plain]);
    }),
  );
});

test('refuses a weight of an unknown source and unknown or wrong options', () => {
  expect(() => reciprocalRankFusion({ bm25: Float64Array.of(1) }, { ...defaults, weights: { bm2: 2 } })).toThrow(
    'weight of an unknown source: bm2; use bm25',
  );
  expect(defaults).toEqual({ method: 'rrf', k: 60, weights: {} });
  for (const wrong of [{ k: 0 }, { weights: { a: -1 } }, { weights: [1] }, { c: 60 }])
    expect(reciprocalRankOptions.safeParse({ method: 'rrf', ...wrong }).success).toBe(false);
});
