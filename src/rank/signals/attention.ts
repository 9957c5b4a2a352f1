import type * as tf from '@tensorflow/tfjs-core';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import type { AttentionOptions } from './attention-options.ts';
import { candidateAttention, mixUnifiedScores } from './attention-score.ts';
import { type Column, computeColumn, maskBatch, type PoolBatch, uploadBatch } from './candidate-pool.ts';
import { cosineSignal } from './cosine.ts';
import { forwardAttention } from './forward-attention.ts';
import { buildForwardCosines, computeForwardWidth } from './forward-cosines.ts';
import { computeForwardLogMasses, listTurnsAhead, type TurnsAhead } from './forward-mass.ts';
import { pairFrames } from './frames.ts';
import { defineSignal, defineStage, type Setting, type Signal, type StageUse } from './signal.ts';
import { measureDistances } from './trajectory.ts';
import { TRAJECTORY_DEFAULTS, type TrajectoryOptions } from './trajectory-options.ts';
import { drawPermutedOrder, listAheadInOrder } from './worlds/permuted-order.ts';
import { listDistanceReads, type WorldPart } from './worlds/world-parts.ts';

/** Attention, and the coordinates that TPO compares; the default ones where they are null. */
export interface AttentionUse {
  readonly attention: AttentionOptions;
  readonly trajectory: TrajectoryOptions | null;
}

const coordinatesUsed = ({ trajectory }: AttentionUse) => trajectory ?? TRAJECTORY_DEFAULTS;

/** Whether the mechanism is a directed IRCP, which alone looks forward. Reversed positions leave every ring distance as it is, so the literal one is RCP. */
function looksForward({ mechanism, mode }: AttentionOptions): boolean {
  return mode === 'directed' && (mechanism === 'ircp' || mechanism === 'unified');
}

/** Whether the mechanism compares coordinates. */
function comparesCoordinates({ mechanism }: AttentionOptions): boolean {
  return mechanism === 'tpo' || mechanism === 'unified';
}

/** What a mechanism reads: order, coordinates, or both in a mix. */
function listAttentionReads(use: AttentionUse): readonly WorldPart[] {
  const { mechanism, mix } = use.attention;
  const readsOrder = mechanism === 'unified' ? mix.rcp + mix.ircp > 0 : mechanism !== 'tpo';
  const readsCoordinates = mechanism === 'unified' ? mix.tpo > 0 : mechanism === 'tpo';
  const parts: WorldPart[] = ['vectors', 'times'];
  if (readsOrder) parts.push('order');
  if (readsCoordinates) parts.push(...listDistanceReads(coordinatesUsed(use)));
  return [...new Set(parts)];
}

/** Cosines of each turn with those that come after it in its conversation, as far as attention looks. */
export const cosinesAhead = defineStage({
  name: 'forward-cosines',
  module: import.meta.url,
  of: 'turns',
  reads: ['vectors', 'times'],
  key: (options: AttentionOptions, { corpus }) => ({ width: computeForwardWidth(corpus, options) }),
  compute: ({ world: { corpus, turnVectors } }, options) =>
    buildForwardCosines(corpus, turnVectors, computeForwardWidth(corpus, options)),
});
type CosinesAhead = ReturnType<typeof cosinesAhead> extends StageUse<infer R> ? R : never;

/** The log of what each candidate's forward attention sums to before the query, whichever share the mechanism has in a mix. */
const logMasses = defineSignal<AttentionUse, { frames: StageUse<QueryFrames>; ahead?: StageUse<CosinesAhead> }>({
  name: 'log-masses',
  summary: 'the log of what the forward attention of a candidate sums to before the query',
  module: import.meta.url,
  reads: ['vectors', 'times', 'order'],
  key: ({ attention: { weight: _, mechanism: __, mode: ___, mix: ____, ...key } }) => key,
  inputs: (use, setting) => ({
    frames: pairFrames(coordinatesUsed(use), setting),
    // Another order than that of time has no table.
    ...(setting.control === null ? { ahead: cosinesAhead(use.attention) } : {}),
  }),
  compute: ({ world, pool, inputs }, { attention }) => {
    const { corpus, turnVectors, control } = world;
    const order = () => drawPermutedOrder(corpus, world.controlSeed(control as NonNullable<typeof control>));
    const ahead: TurnsAhead =
      inputs.ahead !== undefined
        ? listTurnsAhead(inputs.ahead as CosinesAhead)
        : listAheadInOrder(corpus, turnVectors, computeForwardWidth(corpus, attention), order());
    return computeForwardLogMasses(ahead, { positions: pool.positions, ...inputs.frames }, attention);
  },
});

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

function listAttentionInputs(use: AttentionUse, setting: Setting) {
  const masses: { logMasses?: Signal } = looksForward(use.attention) ? { logMasses: logMasses(use) } : {};
  return { frames: pairFrames(coordinatesUsed(use), setting), cosine: cosineSignal(null), ...masses };
}

/** What ring attention between the query and its candidates gives each of them. */
export const attentionSignal = defineSignal<AttentionUse, ReturnType<typeof listAttentionInputs>>({
  name: 'attention',
  summary: 'ring attention between the query and its candidates',
  module: import.meta.url,
  reads: listAttentionReads,
  key: (use) => {
    const { weight: _, ...attention } = use.attention;
    const { weight: __, sigma: ___, ...distances } = coordinatesUsed(use);
    return [attention, distances];
  },
  inputs: listAttentionInputs,
  compute: async ({ world, pool, inputs }, use) => {
    const { frames, cosine, logMasses: masses } = inputs as { frames: QueryFrames; cosine: Column; logMasses?: Column };
    const compares = comparesCoordinates(use.attention);
    const distances = compares ? await measureDistances(world, pool, frames, coordinatesUsed(use)) : null;
    const parts = { frames, cosine, logMasses: masses, distances };
    return computeColumn(pool, (batch) => scoreBatch(parts, batch, use.attention));
  },
});
