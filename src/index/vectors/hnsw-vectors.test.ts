import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import type { Filter } from '../../model/filter/filter.ts';
import type { Distance, VectorIndex, VectorMatch, VectorRow } from '../../model/vector-index.ts';
import { openFlatVectors } from './flat-vectors.ts';
import { openHnswVectors } from './hnsw-vectors.ts';
import { vectorIndexOptions } from './registry.ts';
import { readSavedIndex } from './saved-index.ts';
import { describeVectorIndex } from './vector-index-contract.harness.ts';
import { chooseGraph } from './vector-kind.ts';

const GRAPH = { index: 'hnsw', preset: 'specification', seed: 1 } as const;

describeVectorIndex('hnsw', async (distance, dimension, folder) =>
  openHnswVectors(
    { ...GRAPH, distance },
    { dimension, ...(folder === undefined ? {} : { saved: await readSavedIndex(folder) }) },
  ),
);

const [N, D] = [1709, 19];

function drawRows(count: number = N, start = 0): VectorRow[] {
  return Array.from({ length: count }, (_, i) => {
    const stream = createRandom(start + i, 'rows');
    const vector = Float32Array.from({ length: D }, () => stream.drawNormal());
    return { id: `row${start + i}`, vector, subject: { attributes: { place: start + i } } };
  });
}

const queries = Float32Array.from(drawRows(31, 100_000).flatMap(({ vector }) => [...vector]));
const isBelow = (value: number): Filter => ({ op: '<', field: 'place', value });

function shareFound(found: readonly VectorMatch[][], exact: readonly VectorMatch[][]): number {
  const hits = exact.flatMap((row, query) => row.filter(({ id }) => found[query]!.some((match) => match.id === id)));
  return hits.length / exact.flat().length;
}

async function openPair(distance: Distance): Promise<[VectorIndex, VectorIndex]> {
  return [
    await openHnswVectors({ ...GRAPH, distance }, { dimension: D }),
    await openFlatVectors({ index: 'flat', distance }, { dimension: D }),
  ];
}

describe('hnsw over vectors that come and go', () => {
  test('presets, and numbers that replace those of a preset', () => {
    const read = (input: object) => chooseGraph(vectorIndexOptions.parse({ index: 'hnsw', ...input }) as never);
    expect(read({})).toEqual({ m: 32, efConstruction: 200, efSearch: 128, seed: 1 });
    expect(read({ preset: 'specification' })).toEqual({ m: 16, efConstruction: 200, efSearch: 50, seed: 1 });
    expect(read({ preset: 'specification', efSearch: 70, seed: 3 })).toMatchObject({ m: 16, efSearch: 70, seed: 3 });
  });

  test.each(['cosine', 'l2', 'inner-product'] as const)(
    '%s: finds nearly all that an exact index finds after growth, replacement and removal',
    async (distance) => {
      const pair = await openPair(distance);
      for (const index of pair) {
        await index.upsert(drawRows());
        await index.upsert(drawRows(300, 5000).map((row, i) => ({ ...row, id: `row${i * 2}` })));
        await index.remove(drawRows(200, 600).map(({ id }) => id));
      }
      const [hnsw, flat] = pair;
      const exact = await flat.search(queries, 10);
      expect(shareFound(await hnsw.search(queries, 10), exact)).toBeGreaterThan(0.95);
      for (const visible of [20, 170, 1500]) {
        const options = { filter: isBelow(visible) };
        const found = await hnsw.search(queries, 10, options);
        expect(found.every((row) => row.length === 10)).toBe(true);
        expect(shareFound(found, await flat.search(queries, 10, options))).toBeGreaterThan(0.95);
      }
    },
  );

  test('a graph of which most was removed is rebuilt, and finds the rest exactly as a fresh one', async () => {
    const [hnsw, flat] = await openPair('l2');
    await hnsw.upsert(drawRows(3400));
    await hnsw.remove(drawRows(2300).map(({ id }) => id));
    await flat.upsert(drawRows(1100, 2300));
    expect(await hnsw.count()).toBe(1100);
    expect(shareFound(await hnsw.search(queries, 10), await flat.search(queries, 10))).toBeGreaterThan(0.95);
  });

  test('after compact a saved index has no vector of a removed row, and the rest is found as before', async () => {
    for (const index of await openPair('l2')) {
      const rows = drawRows(41);
      await index.upsert(rows);
      const removed = rows.slice(7, 18);
      const kept = rows.filter((row) => !removed.includes(row));
      await index.remove(removed.map(({ id }) => id));
      const before = await index.search(queries, 50);
      const countRemoved = async () => {
        const folder = mkdtempSync(join(tmpdir(), 'ragpp-compact-'));
        await index.save(folder);
        const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
        rmSync(folder, { recursive: true });
        const has = ({ vector }: VectorRow) => files.some((file) => file.includes(Buffer.from(vector.buffer)));
        return [removed.filter(has).length, kept.filter(has).length];
      };
      expect(await countRemoved()).toEqual([index.name === 'hnsw' ? removed.length : 0, kept.length]);
      await index.compact?.();
      expect(await countRemoved()).toEqual([0, kept.length]);
      expect(await index.search(queries, 50)).toEqual(before);
      expect(await index.count()).toBe(kept.length);
      await index.dispose();
    }
  });

  test('a tie that goes on past the k-th place is decided by the tie rule', async () => {
    const [hnsw, flat] = await openPair('l2');
    const twins = drawRows(60, 5000).map((row) => ({ ...row, vector: drawRows(1, 7)[0]!.vector }));
    for (const index of [hnsw, flat]) await index.upsert([...drawRows(), ...twins]);
    const query = drawRows(1, 7)[0]!.vector;
    expect(await hnsw.search(query, 10)).toEqual(await flat.search(query, 10));
  });

  test('the saved graph is read, not rebuilt, and damage is an error that names the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-hnsw-'));
    try {
      const [hnsw] = await openPair('cosine');
      await hnsw.upsert(drawRows());
      await hnsw.remove(drawRows(100).map(({ id }) => id));
      await hnsw.save(folder);
      const graph = readdirSync(folder).find((name) => name.startsWith('graph-'))!;
      const saved = await readSavedIndex(folder);
      const copy = await openHnswVectors({ ...GRAPH, distance: 'cosine' }, { dimension: D, saved });
      expect(await copy.search(queries, 10)).toEqual(await hnsw.search(queries, 10));
      await copy.upsert(drawRows(50, 9000));
      expect(await copy.count()).toBe(N - 50);
      rmSync(join(folder, graph));
      await expect(readSavedIndex(folder)).rejects.toThrow(graph);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
