import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { IndexBuildError, ValidationError } from '../core/errors.ts';
import { random } from '../core/random.ts';
import { describeCandidateIndex } from './candidate-contract.ts';
import { unchangingRows } from './dense-rows.ts';
import { FlatIndex } from './flat.ts';
import { HNSW_DEFAULTS, HnswIndex } from './hnsw.ts';
import { recallAt } from './recall.ts';

const OPTIONS = { ...HNSW_DEFAULTS, seed: 3 };
const [N, Q, D] = [601, 53, 29];

beforeAll(async () => void (await useBackend('wasm')));

describeCandidateIndex('hnsw', ({ ids, vectors, dimension }) => new HnswIndex(ids, vectors, dimension, OPTIONS));

/** Unit rows around one of 11 centres. */
function clustered(count: number, name: string): Float32Array {
  const stream = random(7, name);
  const rows = new Float32Array(count * D);
  for (let row = 0; row < count; row++) {
    const centre = stream.integer(11);
    const raw = Array.from({ length: D }, (_, d) => 2 * Math.cos(centre * (d + 1)) + stream.normal());
    rows.set(
      raw.map((value) => value / Math.hypot(...raw)),
      row * D,
    );
  }
  return rows;
}

const ids = Array.from({ length: N }, (_, i) => `id${i}`);
const queries = {
  texts: Array<string>(Q).fill(''),
  vectors: clustered(Q, 'queries'),
  cutoffs: Int32Array.from({ length: Q }, (_, query) => (query * 229) % (N + 1)),
};

describe('hnsw index', () => {
  test('finds nearly all that the exact index finds, with the same scores', async () => {
    const vectors = clustered(N, 'turns');
    const flat = new FlatIndex(ids, unchangingRows(vectors, D));
    const exact = await flat.search(queries, 20);
    const found = await new HnswIndex(ids, vectors, D, OPTIONS).search(queries, 20);
    expect(recallAt(10, found, exact)).toBeGreaterThan(0.99);
    for (const [place, position] of found.positions.entries()) {
      if (position === exact.positions[place]) expect(found.scores[place]).toBeCloseTo(exact.scores[place]!, 5);
    }
    flat.dispose();
  });

  test('a search that continues the replay has the results of a fresh one', async () => {
    const vectors = clustered(N, 'turns');
    const late = { ...queries, cutoffs: new Int32Array(Q).fill(N) };
    const index = new HnswIndex(ids, vectors, D, OPTIONS);
    await index.search(queries, 5);
    expect(await index.search(late, 5)).toEqual(await new HnswIndex(ids, vectors, D, OPTIONS).search(late, 5));
  });

  test('a sparser graph and a narrower search find less: the options reach the library', async () => {
    const vectors = clustered(N, 'turns');
    const found = (m: number, efConstruction: number, efSearch: number) =>
      new HnswIndex(ids, vectors, D, { m, efConstruction, efSearch, seed: 3 }).search(queries, 5);
    const best = await found(32, 200, 128);
    const narrow = recallAt(5, await found(2, 3, 5), best);
    expect(recallAt(5, await found(2, 3, 300), best)).toBeGreaterThan(narrow + 0.02); // efSearch
    expect(recallAt(5, await found(16, 3, 5), best)).toBeGreaterThan(narrow + 0.02); // m
    expect(recallAt(5, await found(2, 200, 5), best)).toBeGreaterThan(narrow + 0.02); // efConstruction
  });

  test('zero vectors are found by nobody and find nothing', async () => {
    const vectors = clustered(N, 'turns')
      .fill(0, 2 * D, 4 * D)
      .fill(0, 0, D);
    const index = new HnswIndex(ids, vectors, D, OPTIONS);
    expect(index.skipped).toBe(3);
    const batch = {
      texts: ['', '', ''],
      vectors: clustered(3, 'queries').fill(0, D, 2 * D),
      cutoffs: Int32Array.of(5, 5, 1),
    };
    const { positions } = await index.search(batch, 3);
    expect([...positions.subarray(0, 3)].sort((a, b) => a - b)).toEqual([-1, 1, 4]);
    expect([...positions.subarray(3)]).toEqual(Array(6).fill(-1));
  });

  test('vectors for other turns and a disposed index are refused', async () => {
    expect(() => new HnswIndex(ids.slice(1), clustered(N, 'turns'), D, OPTIONS)).toThrow(IndexBuildError);
    const index = new HnswIndex(ids, clustered(N, 'turns'), D, OPTIONS);
    index.dispose();
    await expect(index.search(queries, 3)).rejects.toThrow(ValidationError);
  });
});
