import { expect, test } from 'vitest';
import { convexCombination, convexCombinationOptions } from './convex-combination.ts';

const NONE = Number.NaN;
const buildScorePair = (dense: number[], lexical: number[]) => ({
  dense: Float64Array.from(dense),
  lexical: Float64Array.from(lexical),
});
const defaults = convexCombinationOptions.parse({ method: 'convex' });

test('scales each source from its theoretical minimum to its largest score', () => {
  const columns = buildScorePair([0.5, NONE, -0.25, 0.2, NONE], [NONE, 8, 2, 0, NONE]);
  const got = convexCombination(columns, { ...defaults, alpha: 0.75 });
  const expected = [0.75, 0.25, 0.75 * (0.75 / 1.5) + 0.25 * (2 / 8), 0.75 * (1.2 / 1.5), 0];
  for (const [c, value] of expected.entries()) expect(got[c]).toBeCloseTo(value, 14);
});

test('a source that holds nothing above its minimum adds nothing', () => {
  const columns = buildScorePair([-1, -1], [NONE, 0]);
  expect([...convexCombination(columns, defaults)]).toEqual([0, 0]);
  expect([...convexCombination(buildScorePair([0, 1], [NONE, NONE]), defaults)]).toEqual([0.4, 0.8]);
});

test('takes float32 noise below the minimum, and nothing worse', () => {
  const noise = convexCombination(buildScorePair([-1.0000001, 1], [0, 0]), defaults);
  expect([...noise]).toEqual([0, 0.8]);
  const withLow = (low: number) => () => convexCombination(buildScorePair([low, 1], [0, 0]), defaults);
  expect(withLow(-1 - 0.9e-6)).not.toThrow();
  expect(withLow(-1 - 1.1e-6)).toThrow('score of source dense is below its theoretical minimum -1: -1.0000011');
  expect(() => convexCombination(buildScorePair([0, 1], [0, -0.5]), defaults)).toThrow(
    'score of source lexical is below its theoretical minimum 0: -0.5',
  );
});

test('refuses other than two sources, and wrong options', () => {
  expect(() => convexCombination({ dense: Float64Array.of(1) }, defaults)).toThrow('convex combination has 1 sources');
  expect(defaults).toEqual({ method: 'convex', alpha: 0.8, theoreticalMinimum: [-1, 0] });
  for (const wrong of [{ alpha: 1.5 }, { theoreticalMinimum: [0] }, { beta: 0.5 }])
    expect(convexCombinationOptions.safeParse({ method: 'convex', ...wrong }).success).toBe(false);
});
