import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { FUSIONS, fusionOptions } from '../../../ops/fusion/registry.ts';
import { fuseColumnsOfPool } from './fuse.ts';
import { computeSemanticWeight } from './search.ts';

test('the semantic weight of a cosine lies in [0, 1]', () => {
  expect([...computeSemanticWeight(Float32Array.of(-1, 0, 0.5, 1))]).toEqual([0, 0.5, 0.75, 1]);
});

test('each query is fused over its own candidates, and padding stays 0', () => {
  const pool = { queryCount: 3, width: 3, positions: Int32Array.of(4, 2, 1, 3, 0, -1, -1, -1, -1) };
  const cosine = Float32Array.of(0.5, 0, -1, 0.25, 1, 0, 0, 0, 0);
  const bm25 = Float32Array.of(0, 4, 8, 6, 0, 0, 0, 0, 0);
  const fused = fuseColumnsOfPool(
    pool,
    new Map([
      ['cosine', cosine],
      ['bm25', bm25],
    ] as const),
    { method: 'convex', alpha: 0.25, theoreticalMinimum: [-1, 0] },
  );
  // alpha (cos + 1) / (max + 1) + (1 - alpha) bm25 / max, written out.
  const expected = [0.25, 0.25 / 1.5 + 0.75 * 0.5, 0.75, 0.25 * (1.25 / 2) + 0.75, 0.25, 0, 0, 0, 0];
  for (const [i, value] of fused.entries()) expect(value).toBeCloseTo(expected[i] as number, 6);
});

test('where lists are given, a candidate gets nothing from a list that lacks it, nor a rank', () => {
  const pool = { queryCount: 2, width: 4, positions: Int32Array.of(9, 7, 5, 3, 8, 2, -1, -1) };
  const signals = new Map([
    ['bm25', Float32Array.of(1, 4, 3, 2, 0, 6, 0, 0)],
    ['cosine', Float32Array.of(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0, 0)],
  ] as const);
  const list = (...positions: number[]) => ({ queryCount: 2, width: 2, positions: Int32Array.from(positions) });
  const scores = new Float32Array(4);
  const lists = new Map([
    ['bm25', [{ ...list(5, 3, 2, -1), scores }]],
    [
      'cosine',
      [
        { ...list(9, -1, 2, 8), scores },
        { ...list(5, 9, -1, -1), scores },
      ],
    ],
  ] as const);
  const fused = fuseColumnsOfPool(pool, signals, { method: 'rrf', k: 60, weights: { cosine: 0.5 } }, lists);
  // 7 is in no list; 5 leads the words and is second of the cosines; 2 leads the words, of the cosines 8 does.
  const expected = [0.5 / 61, 0, 1 / 61 + 0.5 / 62, 1 / 62, 0.5 / 61, 1 / 61 + 0.5 / 62, 0, 0];
  expect(fused).toEqual(Float32Array.from(expected));
  const whole = fuseColumnsOfPool(pool, signals, { method: 'rrf', k: 60, weights: {} });
  expect(whole[1]).toBe(Math.fround(1 / 61 + 1 / 62));
});

test('negative normalised scores are shifted to 0, and a candidate of no list has no more than any other', () => {
  const pool = { queryCount: 1, width: 4, positions: Int32Array.of(9, 7, 5, -1) };
  const signals = new Map([
    ['bm25', Float32Array.of(1, 5, 3, 0)],
    ['cosine', Float32Array.of(0.5, 0.25, 0.75, 0)],
  ] as const);
  const list = { queryCount: 1, width: 2, positions: Int32Array.of(9, 5), scores: new Float32Array(2) };
  const lists = new Map([
    ['bm25', [list]],
    ['cosine', [list]],
  ] as const);
  // zmuv of two scores is -1 and 1 in both lists; 7 is in no list.
  const fused = fuseColumnsOfPool(pool, signals, { method: 'combsum', normalisation: 'zmuv' }, lists);
  expect([...fused]).toEqual([0, 0, 4, 0]);
});

/** The places of a column, best first; equal scores keep the order of the places, as the tie rule has it. */
const rankPlaces = (column: Float32Array) =>
  [...column.keys()].sort((a, b) => (column[b] as number) - (column[a] as number) || a - b);

describe('empty lists beside the lexical one', () => {
  const random = createRandom(11, 'relevance.test');
  const pool = { queryCount: 1, width: 13, positions: Int32Array.from({ length: 13 }, (_, i) => 40 - 3 * i) };
  const bm25 = Float32Array.from(pool.positions, () => Math.ceil(7 * random.uniform()));
  const nothing = { queryCount: 1, width: 3, positions: Int32Array.of(-1, -1, -1), scores: new Float32Array(3) };
  const signals = new Map<string, Float32Array>([
    ['cosine', new Float32Array(13)],
    ['bm25', bm25],
    ['graph', new Float32Array(13)],
  ]);
  const lexical = { queryCount: 1, width: 13, positions: pool.positions, scores: bm25 };
  const weights = { cosine: 0.3, bm25: 0.5, graph: 0.2 };
  const NEEDS_WEIGHTS = ['convex', 'weighted', 'wsum', 'wmnz', 'w_bordafuse'];

  test.each(FUSIONS.names)('%s ranks as the lexical list does, log_isr aside', (method) => {
    const options = fusionOptions.parse({ method, ...(NEEDS_WEIGHTS.includes(method) ? { weights } : {}) });
    const lists = new Map([
      ['cosine', [nothing]],
      ['bm25', [lexical]],
      ['graph', [nothing]],
    ] as const);
    const fused = fuseColumnsOfPool(pool, signals, options, lists);
    // ln(1) is 0: by its definition, log_isr gives nothing to what one list alone holds.
    if (method === 'log_isr') return expect([...fused]).toEqual(Array(13).fill(0));
    expect(rankPlaces(fused)).toEqual(rankPlaces(bm25));
    expect(new Set(fused).size).toBeGreaterThan(1);
  });

  test.each([
    ['ranks', fusionOptions.parse({ method: 'rrf' })],
    ['sums', fusionOptions.parse({ method: 'combsum' })],
    ['a convex combination', fusionOptions.parse({ method: 'convex', weights: { bm25: 1, graph: 1 } })],
    ['a merge', fusionOptions.parse({ method: 'weighted', weights: { bm25: 0.5, graph: 0.5 } })],
  ])('%s of the pool give no rank to what the graph did not find', (_, options) => {
    const two = new Map([...signals].filter(([name]) => name !== 'cosine'));
    expect(rankPlaces(fuseColumnsOfPool(pool, two, options, new Map([['graph', [nothing]]])))).toEqual(
      rankPlaces(bm25),
    );
  });
});
