import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { viewAsBytes } from '../src/core/hash/hash.ts';
import { allocateCandidates } from '../src/index/candidates/query-batch.ts';
import { recallAt } from '../src/index/candidates/recall.ts';
import { buildUnchangingRows, FlatIndex } from '../src/index/vectors/flat.ts';
import { HnswIndex, type HnswLibrary } from '../src/index/vectors/hnsw.ts';
import type { HnswOptions } from '../src/index/vectors/vector-kind.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../src/model/candidates.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';
import { type FoundPython, runPeer } from './peers/python.ts';
import { selectQuery } from './query-batch.ts';
import { median, readProcessorSeconds } from './timing.ts';

export interface BenchSettings {
  /** N. */
  readonly size: number;
  /** D. */
  readonly dimension: number;
  /** Q. */
  readonly queries: number;
  readonly seed: number;
  readonly graph: Omit<HnswOptions, 'seed'>;
}

export interface Timing {
  readonly buildSeconds: number;
  /** Seconds of the processor, which other work on the machine hardly lengthens. */
  readonly buildProcessorSeconds: number;
  /** The median of searches of one query each. */
  readonly singleMilliseconds: number;
  /** All queries in one search, for each query. */
  readonly batchMilliseconds: number;
  readonly batchProcessorMilliseconds: number;
  readonly recall: number;
}

/** The number of neighbours, and the k of the recall. */
export const K = 10;

interface Inputs {
  readonly ids: readonly string[];
  readonly vectors: Float32Array;
  readonly batch: QueryBatch;
}

/** Every query sees the whole corpus. */
export function drawCandidateInputs({ size, dimension, queries, seed }: Omit<BenchSettings, 'graph'>): Inputs {
  return {
    ids: Array.from({ length: size }, (_, i) => `turn-${i}`),
    vectors: drawClusteredVectors(size, dimension, seed, 'turns'),
    batch: {
      texts: Array<string>(queries).fill(''),
      vectors: drawClusteredVectors(queries, dimension, seed, 'queries'),
      cutoffs: new Int32Array(queries).fill(size),
    },
  };
}

async function timeWork<T>(work: () => T | Promise<T>) {
  const [start, startProcessor] = [performance.now(), readProcessorSeconds()];
  const result = await work();
  const processor = readProcessorSeconds() - startProcessor;
  return { seconds: (performance.now() - start) / 1000, processor, result };
}

/** Builds, warms up with one query (which makes hnsw add its turns, so it belongs to the build), then measures. */
async function timeIndex(
  make: () => CandidateIndex,
  batch: QueryBatch,
): Promise<{ timing: Omit<Timing, 'recall'>; found: Candidates }> {
  const build = await timeWork(async () => {
    const index = make();
    await index.search(selectQuery(batch, 0), K);
    return index;
  });
  const index = build.result;
  const singles: number[] = [];
  for (let query = 0; query < batch.cutoffs.length; query++) {
    singles.push((await timeWork(() => index.search(selectQuery(batch, query), K))).seconds);
  }
  const all = await timeWork(() => index.search(batch, K));
  index.dispose();
  const timing = {
    buildSeconds: build.seconds,
    buildProcessorSeconds: build.processor,
    singleMilliseconds: 1000 * median(singles),
    batchMilliseconds: (1000 * all.seconds) / batch.cutoffs.length,
    batchProcessorMilliseconds: (1000 * all.processor) / batch.cutoffs.length,
  };
  return { timing, found: all.result };
}

export async function timeFlat(settings: BenchSettings): Promise<Timing> {
  const { ids, vectors, batch } = drawCandidateInputs(settings);
  const { timing } = await timeIndex(() => new FlatIndex(ids, buildUnchangingRows(vectors, settings.dimension)), batch);
  return { ...timing, recall: 1 };
}

/** @param library the implementation to measure. */
export async function timeHnsw(settings: BenchSettings, library: HnswLibrary): Promise<Timing> {
  const inputs = drawCandidateInputs(settings);
  const { ids, vectors, batch } = inputs;
  const options = { ...settings.graph, seed: settings.seed };
  const { timing, found } = await timeIndex(
    () => new HnswIndex({ ids, vectors, dimension: settings.dimension }, options, library),
    batch,
  );
  return { ...timing, recall: await measureRecall(inputs, settings.dimension, found) };
}

async function measureRecall({ ids, vectors, batch }: Inputs, dimension: number, found: Candidates): Promise<number> {
  const flat = new FlatIndex(ids, buildUnchangingRows(vectors, dimension));
  const exact = await flat.search(batch, K);
  flat.dispose();
  return recallAt(K, found, exact);
}

/** hnswlib of PyPI, with the same graph on one thread. */
export async function timePypi(settings: BenchSettings, python: FoundPython): Promise<Timing> {
  const { dimension, seed, graph } = settings;
  const inputs = drawCandidateInputs(settings);
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-pypi-'));
  try {
    writeFileSync(join(folder, 'vectors.f32'), viewAsBytes(inputs.vectors));
    writeFileSync(join(folder, 'queries.f32'), viewAsBytes(inputs.batch.vectors));
    const written = JSON.stringify({ ...graph, dimension, seed, k: K });
    const { timing, found } = runPeer<{ timing: Omit<Timing, 'recall'>; found: number[] }>(
      python,
      'hnswlib_candidates.py',
      folder,
      written,
    );
    const candidates = allocateCandidates(settings.queries, K);
    candidates.positions.set(found);
    return { ...timing, recall: await measureRecall(inputs, dimension, candidates) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
