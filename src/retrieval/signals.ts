import * as tf from '@tensorflow/tfjs-core';
import type { PropagationOptions } from '../attention/options.ts';
import { readBack } from '../core/read-back.ts';
import { candidateAttention, unifiedScores } from '../rerank/attention-score.ts';
import { pairCosines, QUERY_BATCH } from '../rerank/cosine.ts';
import { forwardAttention } from '../rerank/forward-attention.ts';
import { forwardCosines, forwardWidth } from '../rerank/forward-cosines.ts';
import { forwardLogMasses } from '../rerank/forward-mass.ts';
import { pairDistances, trajectoryScore } from '../rerank/trajectory-score.ts';
import { coordinateWeights } from '../trajectory/coordinate-names.ts';
import { type QueryFrames, queryFrames } from '../trajectory/query-frames.ts';
import { agesInHours, timeDecay } from '../trajectory/time-decay.ts';
import type { CandidatePool } from './candidate-pool.ts';
import type { Column } from './relevance.ts';
import {
  type AttentionOptions,
  type Bm25IndexOptions,
  TRAJECTORY_DEFAULTS,
  type TrajectoryOptions,
} from './retriever-options.ts';
import { versionRows } from './version-rows.ts';
import type { Workspace } from './workspace.ts';

/** Queries first … first + count - 1 of a pool. */
interface Batch {
  readonly pool: CandidatePool;
  readonly first: number;
  readonly count: number;
}

/** Runs `compute` over batches of queries in a scope each, and reads each batch back once. */
async function columnOf(pool: CandidatePool, compute: (batch: Batch) => tf.Tensor2D): Promise<Column> {
  const column = new Float32Array(pool.positions.length);
  for (let first = 0; first < pool.queryCount; first += QUERY_BATCH) {
    const batch = { pool, first, count: Math.min(QUERY_BATCH, pool.queryCount - first) };
    column.set(await readBack('columnOf', () => compute(batch)), first * pool.width); // [B, C]
  }
  return column;
}

/** The batch's part of an array with `size` numbers for each pair. */
function slice<A extends Float32Array | Int32Array | Uint8Array>(array: A, { pool, first, count }: Batch, size = 1): A {
  return array.subarray(first * pool.width * size, (first + count) * pool.width * size) as A;
}

function matrix(array: Float32Array | Int32Array, batch: Batch): tf.Tensor2D {
  return tf.tensor2d(
    slice(array, batch),
    [batch.count, batch.pool.width],
    array instanceof Int32Array ? 'int32' : 'float32',
  );
}

function maskOf(batch: Batch): tf.Tensor2D {
  return tf.greaterEqual(matrix(batch.pool.positions, batch), tf.scalar(0, 'int32'));
}

/** BM25 of every pair as of the query's moment. */
export async function bm25Signal(
  workspace: Workspace,
  pool: CandidatePool,
  options: Bm25IndexOptions,
): Promise<Column> {
  const index = await workspace.bm25(options);
  return index.scorePairs(workspace.batch, pool.positions, pool.width);
}

/** Place among the turns before the query: 1 for the newest, towards 0 for the oldest. */
export function recencySignal(workspace: Workspace, pool: CandidatePool): Column {
  return Float32Array.from(
    pool.positions,
    (position, pair) => (position + 1) / Math.max(1, workspace.batch.cutoffs[Math.floor(pair / pool.width)] as number),
  );
}

/** Cosine of every pair; with propagation, to the version of the turn that is valid at the query's moment. */
export async function cosineSignal(
  workspace: Workspace,
  pool: CandidatePool,
  propagation: PropagationOptions | null,
): Promise<Column> {
  const { dimension, batch } = workspace;
  const versions = propagation === null ? null : await workspace.propagated(propagation);
  if (versions === null) {
    const rows = { vectors: workspace.turnVectors, dimension, tensor: () => workspace.corpusTensor() };
    return pairCosines(rows, batch.vectors, pool.positions);
  }
  const { vectors, positions } = versions;
  const tensor = () =>
    workspace.once(['version tensor', propagation], () =>
      workspace.own(tf.tensor2d(vectors, [positions.length, dimension])),
    );
  return pairCosines({ vectors, dimension, tensor }, batch.vectors, versionRows(versions, pool, batch.cutoffs));
}

/** 0.5^(age / half-life). */
export function decaySignal(workspace: Workspace, pool: CandidatePool, halfLifeHours: number): Promise<Column> {
  const ages = agesInHours(
    workspace.corpus.timestamps,
    Float64Array.from(workspace.queries, ({ timestamp }) => timestamp),
    pool.positions,
  );
  return columnOf(pool, (batch) => timeDecay(matrix(ages, batch), halfLifeHours));
}

/** Coordinates and ring geometry of every pair, as of the query's moment. */
async function framesOf(
  workspace: Workspace,
  pool: CandidatePool,
  { dimensions, complexityScale }: TrajectoryOptions,
): Promise<QueryFrames> {
  const { tables, points } = await workspace.frames();
  return workspace.once(['frames', pool.key, dimensions, complexityScale], () =>
    queryFrames(tables, points, pool.positions, { dimensions, complexityScale }),
  );
}

function batchDistances(frames: QueryFrames, batch: Batch, { dimensions, weights }: TrajectoryOptions): tf.Tensor2D {
  const shape: [number, number, number] = [batch.count, batch.pool.width, dimensions];
  const coldStart = tf.tensor2d(slice(frames.coldStart, batch), [batch.count, batch.pool.width], 'bool');
  const pairs = {
    candidates: tf.tensor3d(slice(frames.candidates, batch, dimensions), shape),
    queries: tf.tensor3d(slice(frames.queries, batch, dimensions), shape),
    coldStart,
    dimensions,
  };
  return pairDistances(pairs, tf.tensor1d(coordinateWeights(dimensions, weights as Record<string, number>)));
}

/** Trajectory distance of every pair, which the trajectory score and TPO share. */
function distancesOf(workspace: Workspace, pool: CandidatePool, options: TrajectoryOptions): Promise<Column> {
  const { dimensions, complexityScale, weights } = options;
  return workspace.once(['trajectory distances', pool.key, dimensions, complexityScale, weights], async () => {
    const frames = await framesOf(workspace, pool, options);
    return columnOf(pool, (batch) => batchDistances(frames, batch, options));
  });
}

/** exp(-D / sigma). */
export async function trajectorySignal(
  workspace: Workspace,
  pool: CandidatePool,
  options: TrajectoryOptions,
): Promise<Column> {
  const distances = await distancesOf(workspace, pool, options);
  return columnOf(pool, (batch) => trajectoryScore(matrix(distances, batch), options.sigma));
}

interface AttentionInputs {
  readonly frames: QueryFrames;
  readonly cosine: Column;
  /** Of directed IRCP; not made for the mechanisms that do without. */
  readonly logMasses: Column | null;
  /** Trajectory distances, of TPO. */
  readonly distances: Column;
}

/** The directed IRCP looks forward; reversing the positions leaves every ring distance as it is, so the literal one is RCP. */
function looksForward({ mechanism, mode }: AttentionOptions): boolean {
  return mode === 'directed' && (mechanism === 'ircp' || mechanism === 'unified');
}

/** A batch's scores by the mechanism of the options. */
function attentionScores(
  { frames, cosine, logMasses, distances }: AttentionInputs,
  batch: Batch,
  options: AttentionOptions,
): tf.Tensor2D {
  const cosines = matrix(cosine, batch);
  const mask = maskOf(batch);
  const steps = matrix(options.topology === 'ring' ? frames.ringDistances : frames.lineDistances, batch);
  const mechanisms = {
    rcp: () => candidateAttention(cosines, steps, mask, options),
    ircp: () =>
      logMasses === null ? mechanisms.rcp() : forwardAttention(cosines, steps, matrix(logMasses, batch), mask, options),
    tpo: () => candidateAttention(cosines, matrix(distances, batch), mask, options),
  };
  if (options.mechanism !== 'unified') return mechanisms[options.mechanism]();
  return unifiedScores({ rcp: mechanisms.rcp(), ircp: mechanisms.ircp(), tpo: mechanisms.tpo() }, options.mix);
}

/** What ring attention between the query and its candidates gives each of them. */
export async function attentionSignal(
  workspace: Workspace,
  pool: CandidatePool,
  options: AttentionOptions,
  trajectory: TrajectoryOptions | null,
): Promise<Column> {
  const coordinates = trajectory ?? TRAJECTORY_DEFAULTS;
  const frames = await framesOf(workspace, pool, coordinates);
  const cosine = await workspace.once(['cosine', pool.key, null], () => cosineSignal(workspace, pool, null));
  const width = forwardWidth(workspace.corpus, options);
  const logMasses = looksForward(options)
    ? await forwardLogMasses(
        await workspace.once(['forward cosines', width], () =>
          forwardCosines(workspace.corpus, workspace.turnVectors, width),
        ),
        { positions: pool.positions, ...frames },
        options,
      )
    : null;
  const distances = await distancesOf(workspace, pool, coordinates);
  const inputs = { frames, cosine, logMasses, distances };
  return columnOf(pool, (batch) => attentionScores(inputs, batch, options));
}
