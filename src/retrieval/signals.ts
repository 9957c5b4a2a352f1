import * as tf from '@tensorflow/tfjs-core';
import type { PropagationOptions } from '../attention/options.ts';
import { readBack } from '../core/read-back.ts';
import { candidateAttention, unifiedScores } from '../signals/attention-score.ts';
import type { CandidatePool } from '../signals/candidate-pool.ts';
import { localRows } from '../signals/conversation-scope.ts';
import { forwardAttention } from '../signals/forward-attention.ts';
import { forwardCosines, forwardWidth } from '../signals/forward-cosines.ts';
import { forwardLogMasses, inTimeOrder, type TurnsAhead } from '../signals/forward-mass.ts';
import { type CosineRows, pairCosines, QUERY_BATCH } from '../signals/pair-cosines.ts';
import { framesOf } from '../signals/pair-frames.ts';
import { pairDistances, trajectoryScore } from '../signals/trajectory-score.ts';
import { versionRows } from '../signals/version-rows.ts';
import type { ControlOptions } from '../signals/worlds/control-options.ts';
import { onAttention, onCoordinates, onOrder } from '../signals/worlds/null-controls.ts';
import { aheadInOrder, permutedOrder } from '../signals/worlds/permuted-order.ts';
import { coordinateWeights } from '../trajectory/coordinate-names.ts';
import type { QueryFrames } from '../trajectory/query-frames.ts';
import { agesInHours, timeDecay } from '../trajectory/time-decay.ts';
import type { Column } from './relevance.ts';
import {
  type AttentionOptions,
  type Bm25IndexOptions,
  type RetrieverOptions,
  TRAJECTORY_DEFAULTS,
  type TrajectoryOptions,
} from './retriever-options.ts';
import { looksForward } from './stage-graph.ts';
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
export function bm25Signal(workspace: Workspace, pool: CandidatePool, options: Bm25IndexOptions): Promise<Column> {
  return workspace.stage(workspace.graph.bm25(pool.stage, options), async () => {
    const { width } = pool;
    const column = new Float32Array(pool.positions.length);
    for (const { scope, places, batch } of workspace.scopes.split(workspace.batch)) {
      const index = await workspace.bm25(options, scope);
      const scores = await index.scorePairs(batch, localRows(scope, pool, places), width);
      for (const [row, place] of places.entries())
        column.set(scores.subarray(row * width, (row + 1) * width), place * width);
    }
    return column;
  });
}

/** Place among the turns before the query: 1 for the newest, towards 0 for the oldest. */
export function recencySignal(workspace: Workspace, pool: CandidatePool): Promise<Column> {
  const { width } = pool;
  return workspace.stage(workspace.graph.recency(pool.stage), () => {
    const column = new Float32Array(pool.positions.length);
    for (const { scope, places, batch } of workspace.scopes.split(workspace.batch)) {
      const positions = localRows(scope, pool, places);
      const recency = (position: number, pair: number) =>
        (position + 1) / Math.max(1, batch.cutoffs[Math.floor(pair / width)] as number);
      const scores = Float32Array.from(positions, recency);
      for (const [row, place] of places.entries())
        column.set(scores.subarray(row * width, (row + 1) * width), place * width);
    }
    return column;
  });
}

/** The rows that a pool's places are compared by, and which of them is whose. */
async function rowsOf(
  workspace: Workspace,
  pool: CandidatePool,
  propagation: PropagationOptions | null,
  control: ControlOptions | null,
): Promise<{ readonly rows: CosineRows; readonly places: Int32Array }> {
  const { dimension, shared } = workspace;
  if (propagation === null) {
    const rows = { vectors: workspace.turnVectors, dimension, tensor: () => workspace.corpusTensor() };
    return { rows, places: pool.positions };
  }
  const versions = await workspace.propagated(propagation, control);
  const { vectors, positions } = versions;
  const tensor = () =>
    shared.once(['version tensor', propagation, onOrder(control)], () =>
      shared.own(tf.tensor2d(vectors, [positions.length, dimension])),
    );
  return { rows: { vectors, dimension, tensor }, places: versionRows(versions, pool, workspace.batch.cutoffs) };
}

/** Cosine of every pair; with propagation, to the version of the turn that is valid at the query's moment. */
export function cosineSignal(
  workspace: Workspace,
  pool: CandidatePool,
  propagation: PropagationOptions | null,
  control: ControlOptions | null = null,
): Promise<Column> {
  return workspace.stage(workspace.graph.cosine(pool.stage, propagation, control), async () => {
    const { rows, places } = await rowsOf(workspace, pool, propagation, control);
    return pairCosines(rows, workspace.batch.vectors, places);
  });
}

/** 0.5^(age / half-life). */
export function decaySignal(
  workspace: Workspace,
  pool: CandidatePool,
  options: NonNullable<RetrieverOptions['decay']>,
): Promise<Column> {
  return workspace.stage(workspace.graph.decay(pool.stage, options), () => {
    const moments = Float64Array.from(workspace.queries, ({ timestamp }) => timestamp);
    const ages = agesInHours(workspace.corpus.timestamps, moments, pool.positions);
    return columnOf(pool, (batch) => timeDecay(matrix(ages, batch), options.halfLifeHours));
  });
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
function distancesOf(
  workspace: Workspace,
  pool: CandidatePool,
  options: TrajectoryOptions,
  control: ControlOptions | null,
): Promise<Column> {
  const { key } = workspace.graph.frames(pool.stage, options, control);
  return workspace.once(['trajectory distances', key, options.weights], async () => {
    const frames = await framesOf(workspace, pool, options, control);
    return columnOf(pool, (batch) => batchDistances(frames, batch, options));
  });
}

/** exp(-D / sigma). */
export function trajectorySignal(
  workspace: Workspace,
  pool: CandidatePool,
  options: TrajectoryOptions,
  control: ControlOptions | null = null,
): Promise<Column> {
  return workspace.stage(workspace.graph.trajectory(pool.stage, options, control), async () => {
    const distances = await distancesOf(workspace, pool, options, onCoordinates(control));
    return columnOf(pool, (batch) => trajectoryScore(matrix(distances, batch), options.sigma));
  });
}

interface AttentionInputs {
  readonly frames: QueryFrames;
  readonly cosine: Column;
  /** Of directed IRCP; not made for the mechanisms that do without. */
  readonly logMasses: Column | null;
  /** Trajectory distances, of TPO alone. */
  readonly distances: Column | null;
}

/** Whether the mechanism compares coordinates. */
function looksAtCoordinates({ mechanism }: AttentionOptions): boolean {
  return mechanism === 'tpo' || mechanism === 'unified';
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
    tpo: () => candidateAttention(cosines, matrix(distances as Column, batch), mask, options),
  };
  if (options.mechanism !== 'unified') return mechanisms[options.mechanism]();
  return unifiedScores({ rcp: mechanisms.rcp(), ircp: mechanisms.ircp(), tpo: mechanisms.tpo() }, options.mix);
}

/** The turns that a candidate looks forward to, in the order that they stand in. */
async function turnsAhead(
  workspace: Workspace,
  options: AttentionOptions,
  ordering: ControlOptions | null,
): Promise<TurnsAhead> {
  const { corpus, turnVectors, graph, shared } = workspace;
  const width = forwardWidth(corpus, options);
  if (ordering !== null) return aheadInOrder(corpus, turnVectors, width, permutedOrder(corpus, graph.seedOf(ordering)));
  const compute = () => forwardCosines(corpus, turnVectors, width);
  return inTimeOrder(await shared.stage(shared.graph.forwardCosines(options), compute));
}

/** What each candidate's forward attention sums to before the query. */
function logMassesOf(
  workspace: Workspace,
  pool: CandidatePool,
  options: AttentionOptions,
  coordinates: TrajectoryOptions,
  control: ControlOptions | null,
): Promise<Column> {
  const ordering = onOrder(control);
  return workspace.stage(workspace.graph.logMasses(pool.stage, options, coordinates, ordering), async () => {
    const frames = await framesOf(workspace, pool, coordinates, ordering);
    const ahead = await turnsAhead(workspace, options, ordering);
    return forwardLogMasses(ahead, { positions: pool.positions, ...frames }, options);
  });
}

/** What ring attention between the query and its candidates gives each of them. */
export function attentionSignal(
  workspace: Workspace,
  pool: CandidatePool,
  options: AttentionOptions,
  coordinates: TrajectoryOptions | null,
  control: ControlOptions | null = null,
): Promise<Column> {
  const trajectory = coordinates ?? TRAJECTORY_DEFAULTS;
  return workspace.stage(workspace.graph.attention(pool.stage, options, trajectory, control), async () => {
    const changing = onAttention(options, control);
    const frames = await framesOf(workspace, pool, trajectory, changing);
    const cosine = await cosineSignal(workspace, pool, null, null);
    const logMasses = looksForward(options) ? await logMassesOf(workspace, pool, options, trajectory, changing) : null;
    const distances = looksAtCoordinates(options) ? await distancesOf(workspace, pool, trajectory, changing) : null;
    const inputs = { frames, cosine, logMasses, distances };
    return columnOf(pool, (batch) => attentionScores(inputs, batch, options));
  });
}
