import hnswlib from 'hnswlib-node';
import { beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { multiplyRows } from '../../core/tensors/rows.ts';
import { expectEventsLetIn, showSlowly } from '../../core/terminal/slow-progress.harness.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { recallAt } from '../candidates/recall.ts';
import { describeVisibility } from '../candidates/visibility-contract.harness.ts';
import { buildUnchangingRows, FlatIndex } from './flat.ts';
import { HNSWLIB, HnswIndex, type HnswLibrary, SCANNED_PER_ROOT, wrapHnswlib } from './hnsw.ts';
import { HNSW_DEFAULTS } from './vector-kind.ts';

const OPTIONS = { ...HNSW_DEFAULTS, seed: 3 };
const [N, Q, D] = [601, 53, 29];

beforeAll(async () => void (await useBackend('wasm')));

describeCandidateIndex('hnsw', (turns) => new HnswIndex(turns, OPTIONS));

// So narrow that half of the turns are not compared one by one.
describeVisibility('hnsw, in its graph', (turns) => new HnswIndex(turns, { ...OPTIONS, efSearch: 13 }), 0.03);

/** Unit rows around one of 11 centres. */
function drawClusteredRows(count: number, name: string): Float32Array {
  const stream = createRandom(7, name);
  const rows = new Float32Array(count * D);
  for (let row = 0; row < count; row++) {
    const centre = stream.integer(11);
    const raw = Array.from({ length: D }, (_, d) => 2 * Math.cos(centre * (d + 1)) + stream.drawNormal());
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
  vectors: drawClusteredRows(Q, 'queries'),
  cutoffs: Int32Array.from({ length: Q }, (_, query) => (query * 229) % (N + 1)),
};

/** The library, and what it was asked, in order. */
function recordLibraryCalls(): { library: HnswLibrary; asked: (number | string | object)[] } {
  const asked: (number | string | object)[] = [];
  class Recorded extends hnswlib.HierarchicalNSW {
    override initIndex(options: unknown): void {
      asked.push(options as object);
      super.initIndex(options as Parameters<hnswlib.HierarchicalNSW['initIndex']>[0]);
    }
    override setEf(ef: number): void {
      asked.push({ ef });
      super.setEf(ef);
    }
    override addPoint(vector: number[], position: number): void {
      asked.push(position);
      super.addPoint(vector, position);
    }
    override searchKnn(...query: Parameters<hnswlib.HierarchicalNSW['searchKnn']>): hnswlib.SearchResult {
      asked.push(`best ${query[1]}`);
      return super.searchKnn(...query);
    }
  }
  return { library: wrapHnswlib({ HierarchicalNSW: Recorded }), asked };
}

describe('hnsw index', () => {
  test('seed and options reach the library, turns come in time order, and each query is asked when it sees all of its turns', async () => {
    const { library, asked } = recordLibraryCalls();
    const vectors = drawClusteredRows(7, 'turns').fill(0, 2 * D, 3 * D);
    const options = { m: 5, efConstruction: 11, efSearch: 13, seed: 17 };
    const index = new HnswIndex({ ids: ids.slice(0, 7), vectors, dimension: D }, options, library);
    const batch = {
      texts: Array<string>(5).fill(''),
      vectors: drawClusteredRows(5, 'queries').fill(0, 3 * D, 4 * D),
      cutoffs: Int32Array.of(6, 0, 3, 5, 2),
    };
    await index.search(batch, 4);
    const start = [{ maxElements: 6, m: 5, efConstruction: 11, randomSeed: 17 }, { ef: 13 }];
    // The query with cutoff 5 is a zero vector, that with 0 sees nothing.
    expect(asked).toEqual([...start, 0, 1, 'best 2', 'best 2', 3, 4, 5, 'best 4']);
    asked.length = 0;
    await index.search({ ...batch, cutoffs: new Int32Array(5).fill(7) }, 1);
    expect(asked).toEqual([6, ...Array(4).fill('best 1')]); // goes on from where the graph is
    asked.length = 0;
    await index.search({ texts: [''], vectors: drawClusteredRows(1, 'queries'), cutoffs: Int32Array.of(1) }, 3);
    expect(asked).toEqual([...start, 0, 'best 1']);
  });

  test('queries that see the same turns are answered at once, as each of them is alone', async () => {
    const vectors = drawClusteredRows(N, 'turns');
    const asked: number[] = [];
    const library: HnswLibrary = {
      ...HNSWLIB,
      create: (...given) => {
        const graph = HNSWLIB.create(...given);
        const search = graph.search.bind(graph);
        graph.search = (rows, k, shown) => {
          asked.push(rows.length / D);
          return search(rows, k, shown);
        };
        return graph;
      },
    };
    const index = new HnswIndex({ ids, vectors, dimension: D }, { ...OPTIONS, efSearch: 13 }, library, 1);
    const half = Int32Array.from({ length: N / 2 }, (_, i) => 2 * i);
    const batch = {
      ...queries,
      cutoffs: Int32Array.from({ length: Q }, (_, query) => (query < 5 ? 401 : N)),
      visible: Array.from({ length: Q }, (_, query) => (query < 9 ? half : null)),
    };
    const found = await index.search(batch, 7);
    expect(asked).toEqual([5, 4, 32, 12]); // by cutoff and list, at most 32
    for (let query = 0; query < Q; query++) {
      const visible = [batch.visible[query] ?? null];
      const rows = queries.vectors.slice(query * D, (query + 1) * D);
      const cutoffs = batch.cutoffs.slice(query, query + 1);
      const alone = await index.search({ texts: [''], vectors: rows, cutoffs, visible }, 7);
      expect(alone.positions).toEqual(found.positions.slice(7 * query, 7 * (query + 1)));
      expect(alone.scores).toEqual(found.scores.slice(7 * query, 7 * (query + 1)));
    }
  });

  test('searches that overlap are answered one after another, and let events in', async () => {
    const vectors = drawClusteredRows(N, 'turns');
    const late = { ...queries, cutoffs: new Int32Array(Q).fill(N) };
    const make = (library?: HnswLibrary) => new HnswIndex({ ids, vectors, dimension: D }, OPTIONS, library);
    const { library, asked } = recordLibraryCalls();
    const index = make(library);
    const both = Promise.all([index.search(late, 5, showSlowly), index.search(queries, 3, showSlowly)]);
    expect(await both).toEqual([await make().search(late, 5), await make().search(queries, 3)]);
    const searches = asked.filter((item) => typeof item === 'string');
    expect(searches.slice(0, Q)).toEqual(Array(Q).fill('best 5'));
    expect(searches.slice(Q)).not.toContain('best 5');
    await expectEventsLetIn((slowly) => make().search(late, 5, slowly));
  });

  test('an index that is disposed in the middle of a search says so', async () => {
    const index = new HnswIndex({ ids, vectors: drawClusteredRows(N, 'turns'), dimension: D }, OPTIONS);
    const searching = index.search(queries, 5, showSlowly);
    setImmediate(() => index.dispose());
    await expect(searching).rejects.toThrow(/^index was disposed: hnsw; /);
  });

  test('finds nearly all that the exact index finds, with the same scores', async () => {
    const vectors = drawClusteredRows(N, 'turns');
    const flat = new FlatIndex(ids, buildUnchangingRows(vectors, D));
    const exact = await flat.search(queries, 20);
    const found = await new HnswIndex({ ids, vectors, dimension: D }, OPTIONS).search(queries, 20);
    expect(recallAt(10, found, exact)).toBeGreaterThan(0.99);
    for (const [slot, position] of found.positions.entries()) {
      if (position === exact.positions[slot]) expect(found.scores[slot]).toBeCloseTo(exact.scores[slot]!, 5);
    }
    flat.dispose();
  });

  test('a search that continues the replay has the results of a fresh one', async () => {
    const vectors = drawClusteredRows(N, 'turns');
    const late = { ...queries, cutoffs: new Int32Array(Q).fill(N) };
    const index = new HnswIndex({ ids, vectors, dimension: D }, OPTIONS);
    await index.search(queries, 5);
    expect(await index.search(late, 5)).toEqual(
      await new HnswIndex({ ids, vectors, dimension: D }, OPTIONS).search(late, 5),
    );
  });

  test.each([0, 100, N - 1])('an index of the first %i turns that goes on is that of all', async (first) => {
    const vectors = drawClusteredRows(N, 'turns');
    const turns = ids.map((id, i) => ({ id, conversationId: 'c', parentId: null, timestamp: i, text: id }));
    const corpus = new Corpus(turns.map((turn) => ({ ...turn, author: null, channel: null })));
    const index = new HnswIndex(
      { ids: ids.slice(0, first), vectors: vectors.slice(0, first * D), dimension: D },
      OPTIONS,
    );
    await index.search({ ...queries, cutoffs: queries.cutoffs.map((cutoff) => Math.min(cutoff, first)) }, 5);
    await index.growWith({ corpus, vectors, dimension: D, seed: 3 });
    expect(await index.search(queries, 5)).toEqual(
      await new HnswIndex({ ids, vectors, dimension: D }, OPTIONS).search(queries, 5),
    );
  });

  test('a sparser graph and a narrower search find less: the options reach the library', async () => {
    const vectors = drawClusteredRows(N, 'turns');
    const searchNewIndex = (m: number, efConstruction: number, efSearch: number) =>
      new HnswIndex({ ids, vectors, dimension: D }, { m, efConstruction, efSearch, seed: 3 }).search(queries, 5);
    const best = await searchNewIndex(32, 200, 128);
    const narrow = recallAt(5, await searchNewIndex(2, 3, 5), best);
    expect(recallAt(5, await searchNewIndex(2, 3, 300), best)).toBeGreaterThan(narrow + 0.02); // efSearch
    expect(recallAt(5, await searchNewIndex(16, 3, 5), best)).toBeGreaterThan(narrow + 0.02); // m
    expect(recallAt(5, await searchNewIndex(2, 200, 5), best)).toBeGreaterThan(narrow + 0.02); // efConstruction
  });

  test('zero vectors are found by nobody and find nothing', async () => {
    const vectors = drawClusteredRows(N, 'turns')
      .fill(0, 2 * D, 4 * D)
      .fill(0, 0, D);
    const index = new HnswIndex({ ids, vectors, dimension: D }, OPTIONS);
    const batch = {
      texts: ['', '', ''],
      vectors: drawClusteredRows(3, 'queries').fill(0, D, 2 * D),
      cutoffs: Int32Array.of(5, 5, 1),
    };
    const remarks: (string | undefined)[] = [];
    const noteRemarks = () => ({ update() {}, finish: (remark?: string) => void remarks.push(remark) });
    const { positions } = await index.search(batch, 3, noteRemarks);
    expect(remarks).toEqual(['3 queries, zero vectors left out: 3']);
    expect([...positions.subarray(0, 3)].sort((a, b) => a - b)).toEqual([-1, 1, 4]);
    expect([...positions.subarray(3)]).toEqual(Array(6).fill(-1));
  });

  test('vectors for other turns and a disposed index are refused', async () => {
    expect(
      () => new HnswIndex({ ids: ids.slice(1), vectors: drawClusteredRows(N, 'turns'), dimension: D }, OPTIONS),
    ).toThrow(DimensionMismatchError);
    const index = new HnswIndex({ ids, vectors: drawClusteredRows(N, 'turns'), dimension: D }, OPTIONS);
    index.dispose();
    await expect(index.search(queries, 3)).rejects.toThrow(ValidationError);
  });
});

describe('hnsw index with lists of visible turns', () => {
  const vectors = drawClusteredRows(N, 'turns');
  const efSearch = 10;
  const makeNarrow = (library: HnswLibrary, rows = vectors) =>
    new HnswIndex({ ids, vectors: rows, dimension: D }, { ...OPTIONS, efSearch }, library);
  /** The query's visible turns, best first. */
  const rankListed = (list: Int32Array, query: number) =>
    [...list].sort(
      (a, b) =>
        multiplyRows(vectors, b, queries.vectors, query, D) - multiplyRows(vectors, a, queries.vectors, query, D),
    );
  const askAlone = (query: number, list: Int32Array) => ({
    texts: [''],
    vectors: queries.vectors.slice(query * D, (query + 1) * D),
    cutoffs: Int32Array.of(N),
    visible: [list],
  });
  const limit = Math.floor(SCANNED_PER_ROOT * Math.sqrt(efSearch * N));

  test('few are all compared, without a graph; more are looked for among efSearch / share neighbours', async () => {
    const { library, asked } = recordLibraryCalls();
    const index = makeNarrow(library);
    const few = createRandom(3, 'few')
      .shuffle([...ids.keys()])
      .slice(0, limit);
    const list = Int32Array.from(few).sort();
    const { positions } = await index.search(askAlone(5, list), 4);
    expect([...positions]).toEqual(rankListed(list, 5).slice(0, 4));
    expect(asked).toEqual([]);
    const more = Int32Array.from(ids.keys()).filter((position) => position % 2 === 0);
    await index.search(askAlone(5, more), 4);
    expect(asked.filter((item) => typeof item === 'string')).toEqual([
      `best ${Math.ceil((efSearch * N) / more.length)}`,
    ]);
  });

  test('where the nearest neighbours are hidden, all that is visible is compared', async () => {
    const { library, asked } = recordLibraryCalls();
    const index = makeNarrow(library);
    const far = rankListed(Int32Array.from(ids.keys()), 5).slice(N - limit - 1);
    const list = Int32Array.from(far).sort();
    const { positions } = await index.search(askAlone(5, list), 4);
    expect([...positions]).toEqual(far.slice(0, 4));
    expect(asked.filter((item) => typeof item === 'string')).toHaveLength(1);
  });

  test('a visible turn without a direction is not found, neither compared nor in the graph', async () => {
    const rows = vectors.slice().fill(0, 2 * D, 4 * D);
    const { library } = recordLibraryCalls();
    const index = makeNarrow(library, rows);
    const few = await index.search(askAlone(5, Int32Array.of(1, 2, 3, 7)), 4);
    expect([...few.positions].sort((a, b) => a - b)).toEqual([-1, -1, 1, 7]);
    const all = await index.search(askAlone(5, Int32Array.from(ids.keys())), N);
    expect(all.positions.filter((position) => position >= 0)).toHaveLength(N - 2);
  });
});
