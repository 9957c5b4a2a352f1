import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import type { Filter } from '../../model/filter/filter.ts';
import type { VectorIndex, VectorMatch } from '../../model/vector-index.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { drawContractCorpus, drawContractQueries } from '../candidates/contract-sample.fixture.ts';
import { describeVisibility } from '../candidates/visibility-contract.harness.ts';
import { HnswIndex, type HnswLibrary } from './hnsw.ts';
import { openVectorIndex } from './registry.ts';
import { hashFile } from './saved-index.ts';
import { loadUsearch } from './usearch.ts';
import { describeVectorIndex } from './vector-index-contract.harness.ts';
import { HNSW_DEFAULTS } from './vector-kind.ts';

const OPTIONS = { ...HNSW_DEFAULTS, seed: 3 };
const [N, D, Q] = [1709, 19, 31];

function drawRows(count: number, start = 0) {
  return Array.from({ length: count }, (_, i) => {
    const stream = createRandom(start + i, 'rows');
    const vector = Float32Array.from({ length: D }, () => stream.drawNormal());
    return { id: `row${start + i}`, vector, subject: { attributes: { place: start + i } } };
  });
}

const queries = Float32Array.from(drawRows(Q, 100_000).flatMap(({ vector }) => [...vector]));

/** The share of exact results that were found. */
function shareFound(found: readonly VectorMatch[][], exact: readonly VectorMatch[][]): number {
  const hits = exact.flatMap((row, query) => row.filter(({ id }) => found[query]!.some((match) => match.id === id)));
  return hits.length / exact.flat().length;
}

requirePackages('usearch').describe('usearch', () => {
  let library: HnswLibrary;
  beforeAll(async () => {
    library = await loadUsearch();
  });

  describeCandidateIndex('usearch', (turns) => new HnswIndex(turns, OPTIONS, library));
  describeVisibility(
    'usearch, in its graph',
    (turns) => new HnswIndex(turns, { ...OPTIONS, efSearch: 13 }, library),
    0.03,
  );
  describeVectorIndex('usearch', (distance, dimension, folder) =>
    openVectorIndex({ index: 'usearch', distance }, dimension, folder),
  );

  const inFolder = async (use: (folder: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-usearch-'));
    try {
      await use(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const openBoth = (): Promise<VectorIndex[]> =>
    Promise.all([openVectorIndex({ index: 'usearch' }, D), openVectorIndex({ index: 'flat' }, D)]);

  test('two graphs of the same rows have the same bytes and answers', () =>
    inFolder(async (folder) => {
      const build = async (name: string) => {
        const graph = library.create('ip', D, 1, OPTIONS);
        for (const [label, { vector }] of drawRows(N).entries()) graph.add(vector, Int32Array.of(label));
        for (let label = 5; label < N; label += 7) graph.remove(label);
        await graph.write(join(folder, name));
        return [await hashFile(join(folder, name)), graph.search(queries, 10)];
      };
      expect(await build('a')).toEqual(await build('b'));
    }));

  test('options reach the library: a sparser graph and a narrower search find less', async () => {
    const [turns, batch] = [drawContractCorpus(N), drawContractQueries(Q, N)];
    const countHits = async (m: number, efConstruction: number, efSearch: number) => {
      const index = new HnswIndex(turns, { m, efConstruction, efSearch, seed: 3 }, library);
      const best = new HnswIndex(turns, OPTIONS, library);
      const [found, wanted] = [await index.search(batch, 5), await best.search(batch, 5)];
      return found.positions.filter((position, i) => position === wanted.positions[i]).length;
    };
    const narrow = await countHits(2, 3, 5);
    expect(await countHits(2, 3, 300)).toBeGreaterThan(narrow);
    expect(await countHits(16, 3, 5)).toBeGreaterThan(narrow);
    expect(await countHits(2, 200, 5)).toBeGreaterThan(narrow);
  });

  test('finds nearly all that an exact index finds, after growth and removal, with filters and without', async () => {
    const [graph, flat] = (await openBoth()) as [VectorIndex, VectorIndex];
    for (const index of [graph, flat]) {
      await index.upsert(drawRows(N));
      await index.upsert(drawRows(300, 5000).map((row, i) => ({ ...row, id: `row${i * 2}` })));
      await index.remove(drawRows(200, 600).map(({ id }) => id));
    }
    for (const [field, value] of [
      ['place', 1e6], // all
      ['place', 1300], // looked for in the graph
      ['place', 40], // compared
    ] as const) {
      const options = { filter: { op: '<', field, value } satisfies Filter };
      const found = await graph.search(queries, 10, options);
      expect(found.every((row) => row.length === 10)).toBe(true);
      expect(shareFound(found, await flat.search(queries, 10, options))).toBeGreaterThan(0.95);
    }
  });

  test('a graph with a list looks for efSearch / share neighbours and keeps those of the list', () => {
    const graph = library.create('l2', 1, 1, { ...OPTIONS, efSearch: 4 });
    for (let label = 0; label < 100; label++) graph.add(Float32Array.of(label), Int32Array.of(label));
    const every = (step: number) => Uint8Array.from({ length: 100 }, (_, label) => Number(label % step === 0));
    expect([...graph.search(Float32Array.of(0), 3).labels]).toEqual([0, 1, 2]);
    expect([...graph.search(Float32Array.of(0), 3, every(10)).labels]).toEqual([0, 10, 20]); // of 40 neighbours
    const last = Uint8Array.from({ length: 100 }, (_, label) => Number(label >= 50));
    expect([...graph.search(Float32Array.of(0), 3, last).labels]).toEqual([-1, -1, -1]); // of 8 neighbours
  });

  test('hnsw and usearch open what the other saved, and each saves a graph of its own', () =>
    inFolder(async (folder) => {
      const folders = { usearch: join(folder, 'usearch'), hnsw: join(folder, 'hnsw') } as const;
      const answers: VectorMatch[][][] = [];
      for (const index of ['usearch', 'hnsw'] as const) {
        const opened = await openVectorIndex({ index }, D);
        await opened.upsert(drawRows(N));
        await opened.save(folders[index]);
        expect(readdirSync(folders[index]).filter((name) => name.startsWith('graph-'))).toEqual([
          expect.stringMatching(new RegExp(`\\.${index}$`)),
        ]);
        answers.push(await opened.search(queries, 10));
      }
      for (const index of ['usearch', 'hnsw'] as const)
        for (const from of ['usearch', 'hnsw'] as const) {
          const opened = await openVectorIndex({ index }, D, folders[from]);
          expect(shareFound(await opened.search(queries, 10), answers[0]!)).toBeGreaterThan(0.98);
          await opened.save(folders[from]);
          expect(readdirSync(folders[from]).filter((name) => name.endsWith(`.${index}`))).toHaveLength(1);
        }
    }));
});
