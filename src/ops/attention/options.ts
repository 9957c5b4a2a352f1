import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { sumsToOne } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { type AttentionRows, listRowNumbers, type RingSpan } from './attention-rows.ts';

/** The options that map similarity and distance to a logit. */
export type LogitOptions = Pick<RingAttentionOptions, 'combine' | 'decay' | 'temperature'>;

/**
 * `exp(-decay d) (1 + cos) / 2 / temperature` (multiplicative) or `(1 + cos) / 2 / temperature - decay d` (additive),
 * elementwise.
 *
 * @param cosine of any shape
 * @param distance of the same shape, or one that broadcasts to it
 */
export function attentionLogits<T extends tf.Tensor>(cosine: T, distance: tf.Tensor, options: LogitOptions): T {
  const { combine, decay: distanceDecay, temperature } = options;
  return scoped('attentionLogits', () => {
    const semantic = tf.mul(tf.add(cosine, 1), 0.5 / temperature);
    return combine === 'multiplicative'
      ? tf.mul(semantic, tf.exp(tf.mul(distance, -distanceDecay)))
      : tf.sub(semantic, tf.mul(distance, distanceDecay));
  });
}

/** Below every logit and score that occurs, and finite, since softmax of a row of -infinity is NaN. */
export const MASKED = -1e30;

/**
 * `logit = cosine * slope + offset` for R queries and C keys, so that a device needs neither positions nor comparisons.
 * Row-major [R, C].
 */
export interface LogitTerms {
  readonly slope: Float32Array;
  readonly offset: Float32Array;
  /** C */
  readonly columns: number;
}

/** One conversation and how its turns see each other. */
interface RingSteps {
  readonly turns: number;
  readonly options: RingAttentionOptions;
  /** Keys further away than this are not changed. */
  readonly width: number;
}

/** @param masked the logit of keys without a term: 0 if they count e^0 = 1, else {@link MASKED} */
export function allocateTerms(rows: number, columns: number, masked: 0 | typeof MASKED = MASKED): LogitTerms {
  const offset = new Float32Array(rows * columns);
  if (masked !== 0) offset.fill(masked);
  return { slope: new Float32Array(rows * columns), offset, columns };
}

/** Slope and offset by distance 0 … `furthest`, `(1 + cos) / 2` written out. */
export function tabulateTerms(furthest: number, { combine, decay: distanceDecay, temperature }: LogitOptions) {
  const slope = new Float64Array(furthest + 1);
  const offset = new Float64Array(furthest + 1);
  const half = 0.5 / temperature;
  for (let d = 0; d <= furthest; d++) {
    slope[d] = combine === 'multiplicative' ? half * Math.exp(-distanceDecay * d) : half;
    offset[d] = combine === 'multiplicative' ? (slope[d] as number) : half - distanceDecay * d;
  }
  return { slope, offset };
}

/**
 * Writes the terms of all admissible keys within the width, masks aside. Key positions may lie beyond the turns: there
 * a ring continues and a line has no keys.
 *
 * @param corner position of the first row and column in the terms
 * @param queries [R] positions
 */
export function writeTerms(
  terms: LogitTerms,
  corner: { readonly row: number; readonly column: number },
  queries: Int32Array,
  keys: RingSpan,
  { turns, options, width }: RingSteps,
): void {
  const { topology, direction, self } = options;
  const isRing = topology === 'ring';
  const byDistance = tabulateTerms(Math.min(turns, width), options);
  for (let row = 0; row < queries.length; row++) {
    const i = queries[row] as number;
    const start = Math.max(keys.first, i - width, isRing ? keys.first : 0);
    const end = Math.min(keys.first + keys.count - 1, i + width, isRing ? Number.POSITIVE_INFINITY : turns - 1);
    const at = (corner.row + row) * terms.columns + corner.column - keys.first;
    for (let ringPosition = start; ringPosition <= end; ringPosition++) {
      const j = ringPosition < 0 ? ringPosition + turns : ringPosition >= turns ? ringPosition - turns : ringPosition;
      if ((direction === 'causal' && j > i) || (direction === 'anticausal' && j < i)) continue;
      if (self === 'exclude' && j === i) continue;
      const steps = Math.abs(i - j);
      const distance = isRing ? Math.min(steps, turns - steps) : steps;
      terms.slope[at + ringPosition] = byDistance.slope[distance] as number;
      terms.offset[at + ringPosition] = byDistance.offset[distance] as number;
    }
  }
}

/**
 * Removes masked keys from a block, as if no term had been written for them.
 *
 * @param queries [R] rows of the queries
 * @param masked as in {@link allocateTerms}
 */
export function hideKeys(
  { slope, offset, columns }: LogitTerms,
  { turns, keyMask, mask }: Pick<AttentionRows, 'turns' | 'keyMask' | 'mask'>,
  queries: Int32Array,
  keys: RingSpan,
  masked: 0 | typeof MASKED,
): void {
  if (keyMask === undefined && mask === undefined) return;
  const ringPositions = listRowNumbers(keys, turns);
  for (let row = 0, at = 0; row < queries.length; row++) {
    const start = (queries[row] as number) * turns;
    for (let column = 0; column < columns; column++, at++) {
      const ringPosition = ringPositions[column] as number;
      if (keyMask?.[ringPosition] !== 0 && mask?.[start + ringPosition] !== 0) continue;
      slope[at] = 0;
      offset[at] = masked;
    }
  }
}

/** Softmax of each row. @param logits [B, T] finite @returns [B, T] */
export function softmaxRows(logits: tf.Tensor2D): tf.Tensor2D {
  assertShape('logits', logits, 'B T');
  return scoped('softmaxRows', () => {
    const powers = tf.exp(tf.sub(logits, tf.max(logits, 1, true)));
    return tf.div(powers, tf.sum(powers, 1, true));
  });
}

/**
 * Softmax of each row over its admissible positions; a row without any is all zeros.
 *
 * @param logits [B, T] finite, also where they are masked
 * @param mask bool [B, T]
 * @returns [B, T]
 */
export function maskedSoftmax(logits: tf.Tensor2D, mask: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('logits', logits, 'B T');
  assertShape('mask', mask, 'B T', sizes);
  return scoped('maskedSoftmax', () => {
    const kept: tf.Tensor2D = tf.cast(mask, 'float32');
    // By arithmetic: on wasm a conditional takes several times as long.
    const masked: tf.Tensor2D = tf.add(logits, tf.mul(tf.sub(kept, 1), -MASKED));
    return tf.mul(softmaxRows(masked), kept);
  });
}

/**
 * The choices of ring attention (section 4.2 of diomande2026ragpp, and choices that it does not specify).
 *
 * topology `ring`: the shorter way round, `line`: |p_i - p_j|. direction `causal` keeps keys at or before the query's
 * position, `anticausal` at or after it. combine `multiplicative`: logit = exp(-decay d) (1 + cos) / 2 / temperature,
 * which tends to 0 for far keys and so never forgets them; `additive`: logit = (1 + cos) / 2 / temperature - decay d,
 * which does. self `exclude` leaves out the key at the query's own position.
 */
export const ringAttentionOptions = z.strictObject({
  topology: z.enum(['ring', 'line']).default('ring'),
  direction: z.enum(['none', 'causal', 'anticausal']).default('none'),
  combine: z.enum(['multiplicative', 'additive']).default('multiplicative'),
  self: z.enum(['include', 'exclude']).default('include'),
  decay: z.number().nonnegative().default(0.5),
  temperature: z.number().positive().default(0.1),
});
/**
 * Topology, direction, combination of similarity and distance, decay with distance, and temperature of ring attention.
 */
export type RingAttentionOptions = z.infer<typeof ringAttentionOptions>;

/** The paper's ring without a direction: similarity times closeness, decay 0.5 a step, temperature 0.1. */
export const RING_ATTENTION_DEFAULTS: RingAttentionOptions = freezeDeeply(ringAttentionOptions.parse({}));

/** The tolerance of the sum of {@link attentionMix} against 1. */
const MIX_TOLERANCE = 0.01;

/** The shares of the three mechanisms in unified attention. */
export const attentionMix = z
  .strictObject({
    rcp: z.number().nonnegative().default(0.4),
    ircp: z.number().nonnegative().default(0.4),
    tpo: z.number().nonnegative().default(0.2),
  })
  .refine(({ rcp, ircp, tpo }) => sumsToOne([rcp, ircp, tpo], MIX_TOLERANCE), {
    error: ({ input }) => `shares that sum to 1 within ${MIX_TOLERANCE}, with their defaults ${JSON.stringify(input)}`,
  });
/** The shares of RCP, IRCP and TPO in unified attention. */
export type AttentionMix = z.infer<typeof attentionMix>;

/**
 * `literal`: RCP and IRCP are the same, since reversed positions do not change any ring distance; `directed`: RCP is
 * causal, IRCP anticausal.
 */
export const attentionMode = z.enum(['literal', 'directed']);

/** The schema of {@link UnifiedAttentionOptions}. */
export const unifiedAttentionOptions = ringAttentionOptions.omit({ direction: true }).extend({
  mode: attentionMode.default('directed'),
  mix: attentionMix.prefault({}),
});
/** The options of ring attention and the shares of RCP, IRCP and TPO, with every default written out. */
export type UnifiedAttentionOptions = z.infer<typeof unifiedAttentionOptions>;

/** The schema of {@link PropagationOptions}; by default 30 % of an embedding is attention output. */
export const propagationOptions = ringAttentionOptions.extend({
  /** The share of the attention output in a propagated embedding. */
  beta: z.number().min(0).max(1).default(0.3),
});
/**
 * Ring attention of turns over their conversation, and the share `beta` of its output in a propagated embedding, in [0,
 * 1].
 */
export type PropagationOptions = z.infer<typeof propagationOptions>;

/**
 * Named settings of propagation. `published` has the paper's: a turn is its own loudest key (logit 10 against about 4
 * for its neighbours), so it comes out as it went in. `framework` excludes the turn itself and gives far turns less
 * weight.
 */
export const PROPAGATION_PRESETS = freezeDeeply({
  published: propagationOptions.parse({
    combine: 'multiplicative',
    self: 'include',
    temperature: 0.1,
    decay: 0.5,
    beta: 0.3,
  }),
  framework: propagationOptions.parse({ combine: 'additive', self: 'exclude', temperature: 1, decay: 1, beta: 0.5 }),
} as const satisfies Record<string, PropagationOptions>);
