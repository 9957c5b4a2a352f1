import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { type FlippedColumn, signFlipCounter } from './sign-flip-counter.ts';

const GROUPS = 19;
const stream = createRandom(3, 'sign-flip-counter test');

function drawFlippedColumn(threshold: number): FlippedColumn {
  return { sums: Float64Array.from({ length: GROUPS }, () => stream.drawNormal()), threshold };
}

/** One flip after the other, from the stream that the counter's first call draws from. */
function countOneByOne({ sums, threshold }: FlippedColumn, seed: number, samples: number): number {
  const flips = createRandom(seed, 'sign-flip-permutation');
  let hits = 0;
  for (let sample = 0; sample < samples; sample++) {
    let total = 0;
    for (const sum of sums) total += flips.integer(2) === 1 ? sum : -sum;
    if (Math.abs(total) >= threshold) hits++;
  }
  return hits;
}

describe('the count of a column', () => {
  const columns = [drawFlippedColumn(3), drawFlippedColumn(5), drawFlippedColumn(0)];

  test.each([1, 97, 4096, 10_007])('is that of summing flip by flip, of %i samples', (samples) => {
    const counted = signFlipCounter(GROUPS, 11)(columns, samples);
    expect(counted).toEqual(columns.map((column) => countOneByOne(column, 11, samples)));
  });

  test('does not depend on the columns beside it, in any round', () => {
    const [together, alone] = [signFlipCounter(GROUPS, 11), signFlipCounter(GROUPS, 11)];
    const second = columns[1] as FlippedColumn;
    for (const samples of [997, 5003]) {
      const counts = together(columns, samples);
      expect(alone([second], samples)).toEqual([counts[1]]);
      expect(counts[2]).toBe(samples);
    }
  });

  test('in later rounds is that of fair and independent flips', () => {
    const one = { sums: Float64Array.from({ length: GROUPS }, (_, g) => (g < 4 ? 1 : 0)), threshold: 4 };
    const count = signFlipCounter(GROUPS, 11);
    count([one], 1);
    // Four signs are alike in 2 of 16 sign vectors; five standard errors of 100,000 draws.
    expect(Math.abs((count([one], 100_000)[0] as number) / 100_000 - 1 / 8)).toBeLessThan(0.0053);
  });

  test.each([1, 2, 3])('gives each group of a later round its own signs, seed %i', (seed) => {
    const buildFlipPair = (a: number, b: number) => ({
      sums: Float64Array.from({ length: GROUPS }, (_, g) => (g === a || g === b ? 1 : 0)),
      threshold: 2,
    });
    const count = signFlipCounter(GROUPS, seed);
    count([buildFlipPair(0, 1)], 1);
    const pairs = Array.from({ length: GROUPS - 1 }, (_, g) => buildFlipPair(g, g + 1));
    for (const hits of count(pairs, 20_000)) expect(Math.abs(hits / 20_000 - 1 / 2)).toBeLessThan(0.018);
  });
});
