import { expect, test } from 'vitest';
import { measureHeldBytes } from './held-bytes.ts';

/** What the engine and the test runner may hold of their own between two looks: some percent of the least that is measured. */
const SLACK = 1_000_000;

test('counts what is outside of the heap, what is in it, and nothing that was there before', async () => {
  const there = new Float64Array(10_000_019);
  expect(Math.abs((await measureHeldBytes(() => new Float32Array(25_000_009))) - 4 * 25_000_009)).toBeLessThan(SLACK);
  expect(Math.abs(await measureHeldBytes(() => ({ there })))).toBeLessThan(SLACK);
  const texts = await measureHeldBytes(() =>
    Array.from({ length: 10_007 }, (_, i) => `${i} `.repeat(499).toUpperCase()),
  );
  const letters = Array.from({ length: 10_007 }, (_, i) => 499 * `${i} `.length).reduce(
    (sum, length) => sum + length,
    0,
  );
  expect(texts).toBeGreaterThan(letters - SLACK);
  expect(texts).toBeLessThan(letters + 10_007 * 64 + SLACK);
});

test('does not count what was there before and is given back meanwhile', async () => {
  const garbage: Float32Array[] = [new Float32Array(5_000_011)];
  let calls = 0;
  const make = () => {
    if (++calls === 2) garbage.pop();
    return new Float32Array(2_000_003);
  };
  expect(Math.abs((await measureHeldBytes(make)) - 4 * 2_000_003)).toBeLessThan(SLACK);
  expect(calls).toBe(3);
});
