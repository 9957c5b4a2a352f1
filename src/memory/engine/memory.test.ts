import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  DimensionMismatchError,
  IndexNotFoundError,
  InvalidFilterError,
  NotFiniteError,
  QueryError,
  QueryTimeoutError,
  RecordNotFoundError,
} from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { computePriors } from '../outcomes/prior-bundle.ts';
import { INDEXES, openFilled, QUERY, RECORDS } from './memory.fixture.ts';
import { openMemory } from './open-memory.ts';

beforeAll(() => useBackend('wasm'));

/** The ids of the records in the order of their cosines with a query. */
function rankByCosine(query: Float32Array, records = RECORDS): string[] {
  const score = ({ embedding }: (typeof RECORDS)[number]) =>
    embedding.reduce((sum, value, i) => sum + value * (query[i] as number), 0);
  return [...records].sort((a, b) => score(b) - score(a)).map(({ id }) => id);
}

describe('a query', () => {
  test('has the nearest records and the prior over their outcomes', async () => {
    const memory = await openFilled();
    const { candidates, prior, indexesSearched, latency } = await memory.query({ embedding: QUERY });
    const expected = rankByCosine(QUERY).slice(0, 10);
    expect(candidates.map(({ recordId }) => recordId)).toEqual(expected);
    expect(candidates.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const { score, distance, semanticScore, trajectoryScore, provenance, rank } of candidates) {
      expect(distance).toBeCloseTo(1 - semanticScore, 6);
      expect(score).toBe(semanticScore);
      expect(trajectoryScore).toBeNull();
      expect(provenance).toEqual([{ index: 'exact', rank, score: semanticScore }]);
    }
    const outcomes = expected.map((id) => memory.get(id) as { outcome: number | null });
    expect(prior).toEqual(computePriors(outcomes, null));
    expect(prior.count).toBeGreaterThan(3);
    expect(indexesSearched).toEqual(['exact']);
    expect(latency).toBeGreaterThan(0);
    await memory.close();
  });

  test('weighs the prior by scores, and scores below 0 count as 0', async () => {
    const memory = await openFilled();
    const { candidates, prior } = await memory.query({ embedding: QUERY, k: 60, weighted: true });
    const records = candidates.map(({ recordId }) => memory.get(recordId) as { outcome: number | null });
    expect(candidates.at(-1)?.score).toBeLessThan(0);
    const weights = candidates.map(({ score }) => Math.max(0, score));
    expect(prior).toEqual(computePriors(records, weights));
    await memory.close();
  });

  test('of nothing has a prior of nothing', async () => {
    const memory = await openMemory({ dimension: 8 });
    const { prior, candidates } = await memory.query({ embedding: QUERY });
    expect(candidates).toEqual([]);
    const { count, ...figures } = prior;
    expect(count).toBe(0);
    expect(Object.values(figures).every((figure) => figure === null)).toBe(true);
    await memory.close();
  });

  test('sees what its filter and its time let through', async () => {
    const memory = await openFilled();
    const { candidates } = await memory.query({
      embedding: QUERY,
      k: 60,
      filter: 'channel = $query.channel and number between 10 and 40',
      variables: { channel: 'odd' },
      asOf: RECORDS[30]?.createdAt as number,
    });
    const visible = RECORDS.filter((_, i) => i % 2 === 1 && i >= 10 && i < 30);
    expect(candidates.map(({ recordId }) => recordId)).toEqual(rankByCosine(QUERY, visible));
    await memory.close();
  });

  test('searches several indexes and fuses their lists', async () => {
    const memory = await openFilled({ indexes: INDEXES });
    const { candidates, indexesSearched } = await memory.query({ embedding: QUERY, k: 5 });
    expect(indexesSearched).toEqual(['exact', 'graph']);
    expect(candidates.map(({ recordId }) => recordId)).toEqual(rankByCosine(QUERY).slice(0, 5));
    expect(candidates[0]?.score).toBe(1); // in proportion to the best
    expect(candidates[0]?.provenance.map(({ index, rank }) => [index, rank])).toEqual([
      ['exact', 1],
      ['graph', 1],
    ]);
    const one = await memory.query({ embedding: QUERY, k: 5, indexNames: ['graph'] });
    expect(one.indexesSearched).toEqual(['graph']);
    await memory.close();
  });

  test('mixes in the trajectory where both sides have one', async () => {
    const place = { depth: 0.5, siblingOrder: 0, homogeneity: 1, temporal: 0.5, complexity: 0 };
    const memory = await openMemory({ dimension: 8 });
    const [first, second] = RECORDS.slice(0, 2);
    if (first === undefined || second === undefined) throw new Error('two records');
    await memory.addBatch([first, { ...second, trajectory: { ...place, depth: 1 } }]);
    const { candidates } = await memory.query({ embedding: QUERY, trajectory: place, trajectoryWeight: 0.25 });
    const placed = candidates.find(({ recordId }) => recordId === 'r1');
    expect(placed?.trajectoryScore).toBeCloseTo(Math.exp(-0.5), 5);
    expect(placed?.score).toBeCloseTo(0.75 * (placed?.semanticScore ?? 0) + 0.25 * Math.exp(-0.5), 5);
    const other = candidates.find(({ recordId }) => recordId === 'r0');
    expect(other?.trajectoryScore).toBeNull();
    expect(other?.score).toBe(other?.semanticScore);
    await memory.close();
  });

  test('reranks a larger pool than it returns', async () => {
    const memory = await openFilled({ reranker: { method: 'outcome', alpha: 9 } });
    const { candidates } = await memory.query({ embedding: QUERY, k: 3 });
    const scores = RECORDS.map(({ id, outcome, embedding }) => {
      const cosine = embedding.reduce((sum, value, i) => sum + value * (QUERY[i] as number), 0);
      return { id, score: cosine * (1 + 9 * (outcome ?? 0)) };
    });
    const expected = scores.sort((a, b) => b.score - a.score).slice(0, 3);
    expect(candidates.map(({ recordId }) => recordId)).toEqual(expected.map(({ id }) => id));
    for (const [i, { score }] of candidates.entries()) expect(score).toBeCloseTo(expected[i]?.score as number, 4);
    await memory.close();
  });

  test('whose reranker makes a score infinite is refused by the record', async () => {
    const memory = await openMemory({ dimension: 8, reranker: { method: 'outcome', alpha: 1e308 } });
    await memory.add({ ...(RECORDS[0] as (typeof RECORDS)[number]), embedding: QUERY, outcome: 1e9 });
    const asked = memory.query({ embedding: QUERY });
    await expect(asked).rejects.toThrow(QueryError);
    await expect(asked).rejects.toThrow(
      /^score of record r0 is not finite after reranking: Infinity; lower the factors/,
    );
    await memory.close();
  });

  test.each([
    ['k', { k: 0 }, ConfigurationError],
    ['an unknown key', { filters: 'a = 1' }, ConfigurationError],
    ['a filter', { filter: 'channel = ' }, InvalidFilterError],
    ['an index', { indexNames: ['exactt'] }, IndexNotFoundError],
    ['its length', { embedding: new Float32Array(7) }, DimensionMismatchError],
    ['its numbers', { embedding: new Float32Array(8).fill(Number.NaN) }, NotFiniteError],
  ])('is refused for %s', async (_, more, error) => {
    const memory = await openFilled({}, 5);
    await expect(memory.query({ embedding: QUERY, ...more } as never)).rejects.toThrow(error);
    await memory.close();
  });

  test('is refused by a memory without an index', async () => {
    const memory = await openFilled({ indexes: {} }, 3);
    await expect(memory.query({ embedding: QUERY })).rejects.toThrow(
      'no index to search; register an index or name one',
    );
    await memory.close();
  });

  test('ends with an error when its time is over', async () => {
    const memory = await openFilled({ timeoutMs: 1e-6 });
    await expect(memory.query({ embedding: QUERY })).rejects.toThrow(QueryTimeoutError);
    await memory.close();
  });
});

describe('the cache', () => {
  test('never answers from before a write', async () => {
    const memory = await openFilled({}, 5);
    const ask = async () => (await memory.query({ embedding: QUERY, k: 60 })).candidates.length;
    expect([await ask(), await ask()]).toEqual([5, 5]);
    await memory.add(RECORDS[5] as (typeof RECORDS)[number]);
    expect(await ask()).toBe(6);
    await memory.remove('r5');
    expect(await ask()).toBe(5);
    await memory.close();
  });
});

describe('what is observed later', () => {
  test('changes the prior and the order, as far as it is pooled', async () => {
    const near = (id: string, ...embedding: number[]) => ({
      ...{ id, context: id, createdAt: 1, outcome: 0.5 },
      embedding: Float32Array.from(embedding),
    });
    const memory = await openMemory({ dimension: 2, reranker: { method: 'outcome' } });
    await memory.addBatch([near('a', 1, 0), near('b', 0.8, 0.6)]);
    const ask = (more: object = {}) => memory.query({ embedding: Float32Array.of(1, 0), ...more });
    const listIds = async () => (await ask()).candidates.map(({ recordId }) => recordId);
    const before = await ask();
    expect(before.prior).toMatchObject({ count: 2, records: 2, mean: 0.5, variance: 0 });
    expect(await listIds()).toEqual(['a', 'b']);
    for (let i = 0; i < 1000; i++) {
      await memory.updateStats('a', 0);
      await memory.updateStats('b', 1);
    }
    const { prior, candidates } = await ask();
    expect(prior).toMatchObject({ count: 2002, records: 2, mean: 0.5, min: 0, max: 1 });
    expect(prior.variance).toBeCloseTo(500 / 2002, 12);
    expect(prior.histogram?.counts).toEqual([1000, 0, 0, 0, 0, 2, 0, 0, 0, 1000]);
    expect(prior.confidence).toBeGreaterThan(0.99);
    // .8 (1 + .5 x 1000.5 / 1001) and 1 + .5 x .5 / 1001
    expect(candidates.map(({ recordId }) => recordId)).toEqual(['b', 'a']);
    expect(candidates.map(({ score }) => score)[0]).toBeCloseTo(0.8 * (1 + (0.5 * 1000.5) / 1001), 6);
    expect(candidates.map(({ score }) => score)[1]).toBeCloseTo(1 + (0.5 * 0.5) / 1001, 6);
    const weighted = (await ask({ weighted: true })).prior;
    expect(weighted.mean).toBeGreaterThan(0.54);
    expect((await ask({ pool: 'outcome' })).prior).toEqual(before.prior);
    expect((await ask({ pool: 'stats' })).prior).toMatchObject({ count: 2000, mean: 0.5, variance: 0.25 });
    await memory.close();
  });

  test('has no influence on a reranker that pools outcomes of the beginning alone', async () => {
    const single = { method: 'outcome', alpha: 9, pool: 'outcome' } as const;
    const composite = { method: 'composite' as const, of: [{ weight: 1, reranker: single }] };
    for (const reranker of [single, composite]) {
      const memory = await openFilled({ reranker }, 5);
      const before = await memory.query({ embedding: QUERY });
      const last = before.candidates.at(-1)?.recordId as string;
      for (let i = 0; i < 9; i++) await memory.updateStats(last, 1000);
      expect((await memory.query({ embedding: QUERY })).candidates).toEqual(before.candidates);
      await memory.close();
    }
  });

  test('is counted by record', async () => {
    const memory = await openFilled({}, 5);
    await memory.updateStats('r1', 0);
    expect(await memory.updateStats('r1', 1)).toMatchObject({ count: 2, mean: 0.5, m2: 0.5, min: 0, max: 1 });
    expect(memory.getStats('r1')).toMatchObject({ count: 2 });
    expect(memory.getStats('r99')).toBeNull();
    await expect(memory.updateStats('r99', 1)).rejects.toThrow(RecordNotFoundError);
    await memory.close();
  });
});

describe('a range of outcomes', () => {
  test('bounds the interval, and refuses outcomes beyond it at every door', async () => {
    const memory = await openFilled({ outcomeRange: [0, 4] }, 5);
    const { interval } = (await memory.query({ embedding: QUERY })).prior;
    expect(interval?.[0]).toBeGreaterThanOrEqual(0);
    expect(interval?.[1]).toBeLessThanOrEqual(4);
    const message =
      /^outcome of record r1 is beyond the range from 0 to 4: 4.5; correct the outcome, or widen the range$/;
    await expect(memory.updateStats('r1', 4.5)).rejects.toThrow(message);
    await expect(memory.upsert([{ ...(RECORDS[1] as (typeof RECORDS)[0]), outcome: 4.5 }])).rejects.toThrow(message);
    const stats = { count: 1, mean: 4.5, m2: 0, min: 4.5, max: 4.5 };
    await expect(memory.upsert([{ ...(RECORDS[1] as (typeof RECORDS)[0]), stats }])).rejects.toThrow(message);
    expect(memory.sequence).toBe(1);
    await memory.close();
  });

  test('is refused for a folder with outcomes beyond it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-range-'));
    try {
      await (await openFilled({ folder }, 5)).close();
      await expect(openMemory({ folder, dimension: 8, outcomeRange: [0, 0.9] })).rejects.toThrow(
        'outcome of record r4 is beyond the range from 0 to 0.9: 1',
      );
      await (await openMemory({ folder, dimension: 8, outcomeRange: [0, 1] })).close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
