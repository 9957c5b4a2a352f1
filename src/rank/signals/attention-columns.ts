import type * as tf from '@tensorflow/tfjs-core';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import type { AttentionOptions } from './attention-options.ts';
import { candidateAttention, mixUnifiedScores } from './attention-score.ts';
import {
  type CandidatePool,
  type Column,
  computeColumn,
  maskBatch,
  type PoolBatch,
  uploadBatch,
} from './candidate-pool.ts';
import { forwardAttention } from './forward-attention.ts';
import type { ForwardCosines } from './forward-cosines.ts';
import { computeForwardLogMasses, listTurnsAhead, type TurnsAhead } from './forward-mass.ts';
import { computeForwardWidth } from './forward-width.ts';
import type { World } from './signal.ts';
import { measureDistances } from './trajectory-columns.ts';
import type { TrajectoryOptions } from './trajectory-options.ts';
import { drawPermutedOrder, listAheadInOrder } from './worlds/permuted-order.ts';

/** A pool in its world, and what its column is computed from. */
interface Work<Inputs> {
  readonly world: World;
  readonly pool: CandidatePool;
  readonly inputs: Inputs;
}

/** The log of what the forward attention of each candidate sums to before the query. */
export function computeLogMasses(
  { world, pool, inputs }: Work<{ readonly frames: QueryFrames; readonly ahead?: ForwardCosines }>,
  attention: AttentionOptions,
): Promise<Column> {
  const { corpus, turnVectors, control } = world;
  const order = () => drawPermutedOrder(corpus, world.controlSeed(control as NonNullable<typeof control>));
  const ahead: TurnsAhead =
    inputs.ahead !== undefined
      ? listTurnsAhead(inputs.ahead as ForwardCosines)
      : listAheadInOrder(corpus, turnVectors, computeForwardWidth(corpus, attention), order());
  return computeForwardLogMasses(ahead, { positions: pool.positions, ...inputs.frames }, attention);
}

/** Whether the mechanism compares coordinates. */
function comparesCoordinates({ mechanism }: AttentionOptions): boolean {
  return mechanism === 'tpo' || mechanism === 'unified';
}

interface AttentionInputs {
  readonly frames: QueryFrames;
  readonly cosine: Column;
  /** Of directed IRCP alone. */
  readonly logMasses?: Column | undefined;
  /** Trajectory distances, of TPO alone. */
  readonly distances: Column | null;
}

/** A batch's scores by the mechanism of the options. */
function scoreBatch(
  { frames, cosine, logMasses: masses, distances }: AttentionInputs,
  batch: PoolBatch,
  options: AttentionOptions,
): tf.Tensor2D {
  const cosines = uploadBatch(cosine, batch);
  const mask = maskBatch(batch);
  const steps = uploadBatch(options.topology === 'ring' ? frames.ringDistances : frames.lineDistances, batch);
  const mechanisms = {
    rcp: () => candidateAttention(cosines, steps, mask, options),
    ircp: () =>
      masses === undefined
        ? mechanisms.rcp()
        : forwardAttention(cosines, steps, uploadBatch(masses, batch), mask, options),
    tpo: () => candidateAttention(cosines, uploadBatch(distances as Column, batch), mask, options),
  };
  if (options.mechanism !== 'unified') return mechanisms[options.mechanism]();
  return mixUnifiedScores({ rcp: mechanisms.rcp(), ircp: mechanisms.ircp(), tpo: mechanisms.tpo() }, options.mix);
}

/** The score of each candidate by the mechanism of the options. @param coordinates that TPO compares. */
export async function computeAttention(
  { world, pool, inputs }: Work<object>,
  attention: AttentionOptions,
  coordinates: TrajectoryOptions,
): Promise<Column> {
  const { frames, cosine, logMasses: masses } = inputs as { frames: QueryFrames; cosine: Column; logMasses?: Column };
  const compares = comparesCoordinates(attention);
  const distances = compares ? await measureDistances(world, pool, frames, coordinates) : null;
  const parts = { frames, cosine, logMasses: masses, distances };
  return computeColumn(pool, (batch) => scoreBatch(parts, batch, attention));
}
