import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { type FactorialArm, measureInteractions } from './interactions.ts';

const factors = [
  { name: 'size', levels: ['small', 'large'] },
  { name: 'decay', levels: ['off', 'day', 'week'] },
  { name: 'seed', levels: ['x', 'y'] },
];
const QUERIES = 41;
const labels = Array.from({ length: QUERIES }, (_, q) => `c${q % 17}`);
const options = { samples: 499, level: 0.95, seed: 3 };

/** What each level adds, and what only large and week together add; the seed y adds to all alike. */
function computeFactorialMean(size: string, decay: string, seed: string): number {
  const alone = (size === 'large' ? 0.1 : 0) + (decay === 'day' ? 0.2 : decay === 'week' ? -0.05 : 0);
  return 0.3 + alone + (size === 'large' && decay === 'week' ? 0.15 : 0) + (seed === 'y' ? 0.02 : 0);
}

const stream = createRandom(23, 'interactions test');
const ease = Array.from({ length: QUERIES }, () => stream.drawNormal());
const arms: FactorialArm[] = ['small', 'large'].flatMap((size) =>
  ['off', 'day', 'week'].flatMap((decay) =>
    ['x', 'y'].map((seed) => ({
      levels: { size, decay, seed },
      perQuery: {
        'mrr@10': ease.map((e) => computeFactorialMean(size, decay, seed) + 0.1 * e + 0.02 * stream.drawNormal()),
      },
    })),
  ),
);
const found = measureInteractions(factors, arms, ['mrr@10'], labels, options);
const findInteraction = (first: string, second: string) =>
  found.find(({ levels: [a, b] }) => a === first && b === second);

describe('interactions', () => {
  test('are reported for every pair of levels except the first ones', () => {
    expect(found.map(({ factors: names, levels }) => [...names, ...levels].join(' '))).toEqual([
      'size decay large day',
      'size decay large week',
      'size seed large y',
      'decay seed day y',
      'decay seed week y',
    ]);
  });

  test('are found where there is one and nowhere else', () => {
    const real = findInteraction('large', 'week');
    expect(real?.effect.mean).toBeCloseTo(0.15, 1);
    expect(real?.effect.low).toBeGreaterThan(0.1);
    // None of the draws is as extreme; there are as many as keep five times p below .05 for sure.
    expect(real?.samples).toBeGreaterThan(499);
    expect(real?.p).toBe(1 / ((real?.samples as number) + 1));
    expect(real?.correctedP).toBeCloseTo(5 * (real?.p as number), 12);
    for (const other of found.filter((one) => one !== real)) expect(other.correctedP).toBeGreaterThan(0.05);
  });

  test('are the mean of both - one - other + neither over the settings of the other factors', () => {
    const mean = (size: string, decay: string, seed: string) => {
      const arm = arms.find(({ levels }) => levels?.size === size && levels.decay === decay && levels.seed === seed);
      const values = arm?.perQuery['mrr@10'] as readonly number[];
      return values.reduce((sum, value) => sum + value, 0) / QUERIES;
    };
    const expected = ['x', 'y'].map(
      (seed) =>
        mean('large', 'day', seed) -
        mean('large', 'off', seed) -
        mean('small', 'day', seed) +
        mean('small', 'off', seed),
    );
    expect(findInteraction('large', 'day')?.effect.mean).toBeCloseTo(
      ((expected[0] as number) + (expected[1] as number)) / 2,
      12,
    );
  });

  test('omit settings without an arm', () => {
    const without = arms.filter(
      ({ levels }) => levels?.decay !== 'day' || levels.seed !== 'x' || levels.size !== 'small',
    );
    const left = measureInteractions(factors, without, ['mrr@10'], labels, options);
    expect(left.map(({ levels }) => levels.join(' '))).toEqual([
      'large day',
      'large week',
      'large y',
      'day y',
      'week y',
    ]);
    const noWeek = arms.filter(({ levels }) => levels?.decay !== 'week');
    const rest = measureInteractions(factors, noWeek, ['mrr@10'], labels, options);
    expect(rest.map(({ levels }) => levels.join(' '))).toEqual(['large day', 'large y', 'day y']);
    expect(measureInteractions(factors, [], ['mrr@10'], labels, options)).toEqual([]);
  });
});
