import { describe, expect, test } from 'vitest';
import { computeListReach, type ListLengths } from './reach.ts';
import { FUSIONS, fuseLists, parseFusion } from './registry.ts';

const reach = (lengths: ListLengths, fusion: object) =>
  Object.fromEntries(
    computeListReach(lengths, parseFusion(fusion as Record<string, unknown>, 'test')).map(
      ({ source, agreeing, apart }) => [source, [agreeing, apart]],
    ),
  );

/** One more than the ranks of the agreeing lists that are ahead of the first of the own list, as the formula of reciprocal ranks has it. */
function countAhead(k: number, own: number, others: readonly { weight: number; length: number }[]): number {
  let ahead = 0;
  for (let rank = 1; rank <= Math.max(...others.map(({ length }) => length)); rank++) {
    const sum = others.reduce((total, { weight, length }) => total + (rank <= length ? weight / (k + rank) : 0), 0);
    if (sum > own / (k + 1) + 1e-15) ahead++;
  }
  return 1 + ahead;
}

describe('reciprocal ranks', () => {
  const three = { lexical: 50, dense: 50, graph: 50 };

  test('three lists of equal weight and k = 60 bar what one alone finds, however short the graph list is', () => {
    // 2 / (60 + r) > 1 / 61 for every rank up to 61: lists of 50 that agree are ahead as a whole.
    expect(reach(three, { method: 'rrf', k: 60 })).toEqual({ lexical: [51, 1], dense: [51, 1], graph: [51, 1] });
    expect(reach({ lexical: 100, dense: 100, graph: 5 }, { method: 'rrf', k: 60 }).graph).toEqual([62, 1]);
  });

  test('a low weight bars a list even where the others share nothing', () => {
    expect(reach(three, { method: 'rrf', k: 60, weights: { graph: 0.5 } }).graph).toEqual([51, 101]);
  });

  test('a higher weight or a smaller k lets the graph reach the top 10', () => {
    // 2 / (60 + r) > 1.8 / 61 up to r = 7; 2 / (8 + r) > 1 / 9 up to r = 9.
    expect(reach(three, { method: 'rrf', k: 60, weights: { graph: 1.8 } }).graph?.[0]).toBe(8);
    expect(reach(three, { method: 'rrf', k: 8 }).graph?.[0]).toBe(10);
    expect(reach(three, { method: 'rrf', k: 60, weights: { graph: 2 } }).graph?.[0]).toBe(1);
  });

  test.each([
    [60, 1, 1, 1],
    [60, 0.7, 1, 1.3],
    [10, 1, 0.4, 0.9],
    [1, 0.3, 1, 1],
  ])('agree with the formula: k %d, weights %d, %d, %d', (k, own, a, b) => {
    const lengths = { own: 7, a: 83, b: 29 };
    const others = [
      { weight: a, length: 83 },
      { weight: b, length: 29 },
    ];
    expect(reach(lengths, { method: 'rrf', k, weights: { own, a, b } }).own?.[0]).toBe(countAhead(k, own, others));
  });

  test('two lists of equal weight reach the top, and a list alone is the ranking', () => {
    expect(reach({ a: 100, b: 100 }, { method: 'rrf' })).toEqual({ a: [1, 1], b: [1, 1] });
    expect(reach({ a: 100 }, { method: 'rrf' })).toEqual({ a: [1, 1] });
  });

  test('the rank is that of ranked lists', () => {
    const list = (name: string, length: number) =>
      Array.from({ length }, (_, i) => ({ id: `${name}${String(99 - i)}`, score: 1 - i / length }));
    const lists = { lexical: list('shared', 17), dense: list('shared', 17), graph: list('zz', 5) };
    const options = parseFusion({ method: 'rrf', k: 20, weights: { graph: 1.5 } }, 'test');
    const rank = 1 + fuseLists(lists, options).findIndex(({ id }) => id === 'zz99');
    expect(rank).toBeGreaterThan(1);
    expect(reach({ lexical: 17, dense: 17, graph: 5 }, options).graph?.[0]).toBe(rank);
  });
});

describe('scores', () => {
  test('under a convex combination the own weight stands against the sum of the others', () => {
    const lengths = { cosine: 40, bm25: 30, graph: 20 };
    const weigh = (graph: number) =>
      reach(lengths, { method: 'convex', weights: { cosine: 0.5, bm25: 0.3, graph } }).graph;
    // Agreeing at the largest scores, 30 have .8 and 10 more have .5; apart, 40 have .5 and 30 have .3.
    expect(weigh(0.9)).toEqual([1, 1]);
    expect(weigh(0.8)).toEqual([1, 1]);
    expect(weigh(0.6)).toEqual([31, 1]);
    expect(weigh(0.4)).toEqual([41, 41]);
    expect(weigh(0.2)).toEqual([41, 71]);
    expect(weigh(0)).toEqual([41, 71]);
    const minima = { theoreticalMinimum: { cosine: 0.6, graph: -3 } };
    const weights = { cosine: 0.5, bm25: 0.3, graph: 0.6 };
    expect(reach(lengths, { method: 'convex', weights, ...minima }).graph).toEqual(weigh(0.6));
    expect(reach({ a: 9, b: 7 }, { method: 'convex', alpha: 0.8, theoreticalMinimum: [0.5, 0] }).b).toEqual([10, 10]);
  });

  test('a fusion that gives nothing to a candidate of one list ranks it behind all that agree', () => {
    expect(reach({ a: 11, b: 7, c: 5 }, { method: 'log_isr' }).c).toEqual([8, 1]);
  });

  test('each list whose scores are added is behind two that agree', () => {
    for (const method of ['combsum', 'combmnz', 'wsum'])
      expect([method, reach({ a: 11, b: 7, c: 5 }, { method }).c?.[0]]).toEqual([method, 8]);
    expect(reach({ a: 11, b: 7, c: 5 }, { method: 'combmax' }).c).toEqual([1, 1]);
    expect(reach({ a: 11, b: 7, c: 5 }, { method: 'combsum', normalisation: 'zmuv' }).c?.[0]).toBeGreaterThan(1);
  });

  test.each(FUSIONS.names)('every fusion has a rank from 1 to the size of the union: %s', (method) => {
    const fusion = method === 'convex' || method === 'weighted' ? { weights: { a: 0.6, b: 0.4 } } : {};
    for (const { agreeing, apart } of computeListReach({ a: 11, b: 7 }, parseFusion({ method, ...fusion }, 'test')))
      for (const rank of [agreeing, apart]) {
        expect(rank).toBeGreaterThanOrEqual(1);
        expect(rank).toBeLessThanOrEqual(18);
      }
  });
});

test('a list without a length is refused', () => {
  expect(() => computeListReach({ a: 0, b: 7 }, parseFusion('rrf', 'test'))).toThrow(
    'length of list a is not a whole number from 1: 0; pass its k',
  );
});
