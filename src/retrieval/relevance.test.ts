import { expect, test } from 'vitest';
import { fuseSignals, semanticWeight } from './relevance.ts';

test('the semantic weight of a cosine lies in [0, 1]', () => {
  expect([...semanticWeight(Float32Array.of(-1, 0, 0.5, 1))]).toEqual([0, 0.5, 0.75, 1]);
});

test('each query is fused over its own candidates, and padding stays 0', () => {
  const pool = { queryCount: 3, width: 3, positions: Int32Array.of(4, 2, 1, 3, 0, -1, -1, -1, -1) };
  const cosine = Float32Array.of(0.5, 0, -1, 0.25, 1, 0, 0, 0, 0);
  const bm25 = Float32Array.of(0, 4, 8, 6, 0, 0, 0, 0, 0);
  const fused = fuseSignals(pool, [cosine, bm25], { method: 'convex', alpha: 0.25, theoreticalMinimum: [-1, 0] });
  // alpha (cos + 1) / (max + 1) + (1 - alpha) bm25 / max, written out.
  const expected = [0.25, 0.25 / 1.5 + 0.75 * 0.5, 0.75, 0.25 * (1.25 / 2) + 0.75, 0.25, 0, 0, 0, 0];
  for (const [i, value] of fused.entries()) expect(value).toBeCloseTo(expected[i] as number, 6);
});
