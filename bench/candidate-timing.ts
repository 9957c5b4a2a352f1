import { recallAt } from '../src/index/candidates/recall.ts';
import { buildUnchangingRows, FlatIndex } from '../src/index/vectors/flat.ts';
import { HnswIndex, type HnswLibrary } from '../src/index/vectors/hnsw.ts';
import { HNSW_DEFAULTS } from '../src/index/vectors/vector-kind.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../src/model/candidates.ts';
import { drawClusteredVectors } from './clustered-vectors.ts';
import { selectQuery } from './query-batch.ts';
import { median } from './timing.ts';

export interface BenchSettings {
  /** N. */
  readonly size: number;
  /** D. */
  readonly dimension: number;
  /** Q. */
  readonly queries: number;
  readonly seed: number;
}

export interface Timing {
  readonly buildSeconds: number;
  /** The median of searches of one query each. */
  readonly singleMilliseconds: number;
  /** All queries in one search, for each query. */
  readonly batchMilliseconds: number;
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
export function drawCandidateInputs({ size, dimension, queries, seed }: BenchSettings): Inputs {
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

async function timeWork<T>(work: () => T | Promise<T>): Promise<{ seconds: number; result: T }> {
  const start = performance.now();
  const result = await work();
  return { seconds: (performance.now() - start) / 1000, result };
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
    singleMilliseconds: 1000 * median(singles),
    batchMilliseconds: (1000 * all.seconds) / batch.cutoffs.length,
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
  const { ids, vectors, batch } = drawCandidateInputs(settings);
  const options = { ...HNSW_DEFAULTS, seed: settings.seed };
  const { timing, found } = await timeIndex(
    () => new HnswIndex({ ids, vectors, dimension: settings.dimension }, options, library),
    batch,
  );
  const flat = new FlatIndex(ids, buildUnchangingRows(vectors, settings.dimension));
  const exact = await flat.search(batch, K);
  flat.dispose();
  return { ...timing, recall: recallAt(K, found, exact) };
}
