import { describe, expect, test } from 'vitest';
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

describe('weights by name', () => {
  const parseConvex = (options: object) => convexCombinationOptions.parse({ method: 'convex', ...options });
  const three = {
    graph: Float64Array.of(NONE, 0.2, 0.05, NONE),
    cosine: Float64Array.of(0.5, -0.25, NONE, 1),
    bm25: Float64Array.of(8, NONE, 2, 0),
  };
  const weights = { cosine: 0.5, bm25: 0.3, graph: 0.2 };

  test('sum weight x phi over any number of sources, in any order, each from the minimum of its name', () => {
    const got = convexCombination(three, parseConvex({ weights }));
    const expected = [
      0.5 * (1.5 / 2) + 0.3 * 1,
      0.2 * 1 + 0.5 * (0.75 / 2),
      0.2 * (0.05 / 0.2) + 0.3 * (2 / 8),
      0.5 * 1 + 0.3 * 0,
    ];
    for (const [c, value] of expected.entries()) expect(got[c]).toBeCloseTo(value, 14);
    const { graph, cosine, bm25 } = three;
    expect([...convexCombination({ bm25, cosine, graph }, parseConvex({ weights }))].map((x) => x.toFixed(12))).toEqual(
      [...got].map((x) => x.toFixed(12)),
    );
  });

  test('give what alpha gives for the two sources that alpha is for', () => {
    const { cosine, bm25 } = three;
    const byName = convexCombination({ cosine, bm25 }, parseConvex({ weights: { cosine: 0.75, bm25: 0.25 } }));
    expect([...byName]).toEqual([...convexCombination({ cosine, bm25 }, { ...defaults, alpha: 0.75 })]);
  });

  test('a minimum of its own replaces that of the name', () => {
    const options = parseConvex({ weights: { graph: 1 }, theoreticalMinimum: { graph: -0.3 } });
    expect([...convexCombination({ graph: Float64Array.of(0.2, -0.05) }, options)]).toEqual([1, 0.5]);
    expect(() => convexCombination({ dense: Float64Array.of(-0.2) }, parseConvex({ weights: { dense: 1 } }))).toThrow(
      'score of source dense is below its theoretical minimum 0: -0.2; lower theoreticalMinimum',
    );
  });

  test('are needed for every source and for nothing else', () => {
    expect(() => convexCombination(three, parseConvex({ weights: { cosine: 1, bm25: 1 } }))).toThrow(
      'convex combination has no weight for source: graph; add its weight',
    );
    expect(() => convexCombination(three, parseConvex({ weights: { ...weights, grap: 1 } }))).toThrow(
      'weight of an unknown source: grap; use graph',
    );
  });

  test.each([
    ['an alpha', { weights, alpha: 0.5 }],
    ['minima in an order', { weights, theoreticalMinimum: [0, 0] }],
    ['a minimum of no source', { weights, theoreticalMinimum: { dense: -1 } }],
    ['only zeros', { weights: { cosine: 0, bm25: 0 } }],
    ['a negative weight', { weights: { cosine: -1 } }],
  ])('do not go with %s', (_, options) => {
    expect(convexCombinationOptions.safeParse({ method: 'convex', ...options }).success).toBe(false);
  });
});

test('refuses other than two sources, and wrong options', () => {
  expect(() => convexCombination({ dense: Float64Array.of(1) }, defaults)).toThrow('convex combination has 1 sources');
  expect(defaults).toEqual({ method: 'convex', alpha: 0.8, theoreticalMinimum: [-1, 0] });
  for (const wrong of [
    { alpha: 1.5 },
    { theoreticalMinimum: [0] },
    { theoreticalMinimum: { cosine: -1, bm25: 0 } },
    { beta: 0.5 },
  ])
    expect(convexCombinationOptions.safeParse({ method: 'convex', ...wrong }).success).toBe(false);
});
