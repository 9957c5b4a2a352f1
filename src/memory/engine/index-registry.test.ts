import { beforeAll, expect, test } from 'vitest';
import { ConfigurationError, IndexNotFoundError, QueryError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { openVectorIndex } from '../../index/vectors/registry.ts';
import { FUSIONS } from '../../ops/fusion/registry.ts';
import { IndexRegistry } from './index-registry.ts';

beforeAll(() => useBackend('wasm'));

async function fill(rows: Readonly<Record<string, readonly number[]>>) {
  const index = await openVectorIndex({ index: 'flat' }, 2);
  await index.upsert(Object.entries(rows).map(([id, vector]) => ({ id, vector: Float32Array.from(vector) })));
  return index;
}

async function createRegistry() {
  const registry = new IndexRegistry();
  registry.register('semantic', await fill({ a: [1, 0], b: [0.6, 0.8] }));
  registry.register('temporal', await fill({ b: [1, 0], c: [0, 1] }));
  return registry;
}
const QUERY = Float32Array.of(1, 0);

test('one index gives its own scores', async () => {
  const registry = await createRegistry();
  const { ranking, found } = await registry.searchAll(QUERY, 2, { names: ['semantic'] });
  expect(ranking.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(ranking[1]?.score).toBeCloseTo(0.6, 6);
  expect([...found.keys()]).toEqual(['semantic']);
});

test('the lists of several are fused by any fusion', async () => {
  const registry = await createRegistry();
  const { ranking } = await registry.searchAll(QUERY, 2);
  expect(ranking.map(({ id }) => id)).toEqual(['b', 'a', 'c']);
  expect(ranking[0]?.score).toBeCloseTo(1 / 62 + 1 / 61, 12);
  const summed = await registry.searchAll(QUERY, 2, { fusion: 'combmnz' });
  expect(summed.ranking[0]).toMatchObject({ id: 'b' });
  const weighted = await registry.searchAll(QUERY, 2, { fusion: { method: 'rrf', weights: { temporal: 0 } } });
  expect(weighted.ranking[0]?.id).toBe('a');
});

/** What a fusion needs besides its name. */
const NEEDED: Readonly<Record<string, object>> = { convex: { alpha: 0.5 } };

test.each(FUSIONS.names)('the fusion %s ranks what several indexes found, finite and best first', async (method) => {
  const registry = await createRegistry();
  const { ranking, found } = await registry.searchAll(QUERY, 2, { fusion: { method, ...NEEDED[method] } });
  expect(ranking.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  expect([...found.values()].map((list) => list.length)).toEqual([2, 2]);
  for (const [i, { score }] of ranking.entries()) {
    expect(Number.isFinite(score)).toBe(true);
    expect(score).toBeLessThanOrEqual(ranking[i - 1]?.score ?? Infinity);
  }
});

test('names that are unknown or taken are refused', async () => {
  const registry = await createRegistry();
  await expect(registry.searchAll(QUERY, 2, { names: ['semantik'] })).rejects.toThrow(IndexNotFoundError);
  await expect(registry.searchAll(QUERY, 2, { names: ['semantik'] })).rejects.toThrow('; use semantic');
  await expect(registry.searchAll(QUERY, 2, { fusion: 'rff' })).rejects.toThrow(ConfigurationError);
  await expect(new IndexRegistry().searchAll(QUERY, 2)).rejects.toThrow(QueryError);
  expect(() => registry.register('temporal', registry.get('semantic'))).toThrow(
    'an index has this name: temporal; choose another name',
  );
});
