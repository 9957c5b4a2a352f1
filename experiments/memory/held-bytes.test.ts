import { expect, test } from 'vitest';
import { bytesHeldBy } from './held-bytes.ts';

/** What the engine and the test runner may hold of their own between two looks: a percent of what is measured. */
const SLACK = 100_000;

test('counts what is outside of the heap, what is in it, and nothing that was there before', async () => {
  const there = new Float64Array(1_000_003);
  expect(Math.abs((await bytesHeldBy(() => new Float32Array(2_500_007))) - 4 * 2_500_007)).toBeLessThan(SLACK);
  expect(Math.abs(await bytesHeldBy(() => ({ there })))).toBeLessThan(SLACK);
  const texts = await bytesHeldBy(() => Array.from({ length: 1009 }, (_, i) => `${i} `.repeat(499).toUpperCase()));
  const letters = Array.from({ length: 1009 }, (_, i) => 499 * `${i} `.length).reduce((sum, length) => sum + length, 0);
  expect(texts).toBeGreaterThan(letters - SLACK);
  expect(texts).toBeLessThan(letters + 1009 * 64 + SLACK);
});
