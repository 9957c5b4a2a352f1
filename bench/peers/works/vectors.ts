import { findAddon } from '../../../src/core/backends/native-addon.ts';
import { useBackend } from '../../../src/core/tensors/backend.ts';
import { viewRow } from '../../../src/core/tensors/rows.ts';
import { buildUnchangingRows, FlatIndex } from '../../../src/index/vectors/flat.ts';
import { HNSWLIB, HnswIndex, type HnswLibrary, wrapAddon } from '../../../src/index/vectors/hnsw.ts';
import { loadUsearch } from '../../../src/index/vectors/usearch.ts';
import { findInstalledVersion } from '../../../src/lab/run/environment.ts';
import {
  drawMemoryData,
  K,
  type MemorySettings,
  readMemoryFacts,
  VECTOR_FILE,
  writeMemoryData,
} from '../../memory-data.ts';
import { selectQuery } from '../../query-batch.ts';
import {
  type Comparison,
  compareRankings,
  type DoWork,
  listRankings,
  type PeerSize,
  type Result,
  readFloats,
  type WorkGroup,
} from '../work.ts';

const SIZES: Readonly<Record<PeerSize, Omit<MemorySettings, 'seed'>>> = {
  small: { size: 2000, dimension: 64, queries: 100, data: 'manifold' },
  published: { size: 10_000, dimension: 384, queries: 500, data: 'manifold' },
};
/** The same in bench/peers/works/vectors.py. */
const GRAPH = { m: 16, efConstruction: 200, efSearch: 100 };
/** Products of float32. */
const TOLERANCE = 1e-5;
/** The recall of two graphs may differ by this, since both are drawn at random. */
const RECALL_TOLERANCE = 0.02;

const usearch = findInstalledVersion('usearch') === null ? null : await loadUsearch();

/** By name, the implementations of our graph; null for one that is not installed. */
const LIBRARIES: Readonly<Record<string, () => HnswLibrary | null>> = {
  'hnswlib-node': () => HNSWLIB,
  addon: () => {
    const found = findAddon('hnsw');
    return 'path' in found ? wrapAddon(found.path) : null;
  },
  usearch: () => usearch,
};
const listGraphWorks = (libraries: readonly string[]) =>
  libraries.flatMap((library) => [`hnsw-build/${library}`, `hnsw-search/${library}`]);
const GRAPH_WORKS = listGraphWorks(Object.keys(LIBRARIES));

/** The share of the exact results that a result has, and how many of its similarities are not those of its vectors. */
function checkNeighbours(result: Result, folder: string): { readonly recall: number; readonly wrong: number } {
  const { settings, queries, exact } = readMemoryFacts(folder);
  const vectors = readFloats(folder, VECTOR_FILE);
  const { size, dimension } = settings;
  let [hits, wrong] = [0, 0];
  for (let i = 0; i < result.length / 2; i++) {
    const [position, similarity] = [result[2 * i]!, result[2 * i + 1]!];
    const query = viewRow(queries, dimension, Math.floor(i / K));
    const row = position >= 0 && position < size ? viewRow(vectors, dimension, position) : [];
    const product = query.reduce((sum, value, d) => sum + value * (row[d] ?? Number.NaN), 0);
    if (!(Math.abs(product - similarity) <= TOLERANCE)) wrong++;
    if (exact[100]![Math.floor(i / K)]!.includes(position)) hits++;
  }
  return { recall: hits / (exact[100]!.length * K), wrong };
}

/** Graphs of the same options find as much, but not the same. */
function compareGraphs(ours: Result, theirs: Result, folder: string): Comparison {
  const [own, other] = [checkNeighbours(ours, folder), checkNeighbours(theirs, folder)];
  const isFar = Math.abs(own.recall - other.recall) > RECALL_TOLERANCE;
  const lost = isFar ? Math.round((Math.abs(own.recall - other.recall) * ours.length) / 2) : 0;
  const recalls = [own, other].map(({ recall }) => recall.toFixed(4));
  return { compared: ours.length, differ: own.wrong + other.wrong + lost, note: `recall ${recalls.join(' beside ')}` };
}

/** Vectors nearest by cosine: in a graph of each implementation that is installed, and exactly. */
export const vectors: WorkGroup = {
  listWorks: () => {
    const installed = Object.entries(LIBRARIES).filter(([, find]) => find() !== null);
    return [...listGraphWorks(installed.map(([name]) => name)), 'flat-search'];
  },
  peers: [
    { name: 'hnswlib', requirements: 'memory-requirements.txt', works: GRAPH_WORKS },
    { name: 'usearch', requirements: 'usearch-requirements.txt', works: GRAPH_WORKS },
    { name: 'faiss', requirements: 'memory-requirements.txt' },
  ],
  describe: (size) =>
    `${SIZES[size].size.toLocaleString('en')} vectors of ${SIZES[size].dimension} dimensions, ${SIZES[size].queries} queries at once, k ${K}, M ${GRAPH.m}, efConstruction ${GRAPH.efConstruction}, efSearch ${GRAPH.efSearch}`,
  prepare: (folder, size, seed) => writeMemoryData(folder, drawMemoryData({ ...SIZES[size], seed })),
  open: async (folder, backend) => {
    await useBackend(backend);
    const { settings, queries } = readMemoryFacts(folder);
    const { size, dimension, seed } = settings;
    const rows = readFloats(folder, VECTOR_FILE);
    const ids = Array.from({ length: size }, (_, i) => `turn-${String(i).padStart(8, '0')}`);
    const count = queries.length / dimension;
    const batch = { texts: Array<string>(count).fill(''), vectors: queries, cutoffs: new Int32Array(count).fill(size) };
    const flat = new FlatIndex(ids, buildUnchangingRows(rows, dimension));
    const works: Record<string, DoWork> = {};
    for (const [name, find] of Object.entries(LIBRARIES)) {
      const library = find();
      if (library === null) continue;
      let graph: HnswIndex | null = null;
      works[`hnsw-build/${name}`] = async () => {
        graph?.dispose();
        graph = new HnswIndex({ ids, vectors: rows, dimension }, { ...GRAPH, seed }, library);
        await graph.search(selectQuery(batch, 0), 1); // adds the turns
        return async () => listRankings(await graph!.search(batch, K));
      };
      works[`hnsw-search/${name}`] = async () => {
        const found = await graph!.search(batch, K);
        return () => listRankings(found);
      };
    }
    works['flat-search'] = async () => {
      const found = await flat.search(batch, K);
      return () => listRankings(found);
    };
    return works;
  },
  compare: (work, ours, theirs, folder) =>
    GRAPH_WORKS.includes(work) ? compareGraphs(ours, theirs, folder) : compareRankings(ours, theirs, K, TOLERANCE),
};
