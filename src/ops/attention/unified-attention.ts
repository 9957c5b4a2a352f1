import * as tf from '@tensorflow/tfjs-core';
import { type ConfigurationFault, ValidationError } from '../../core/errors/errors.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { check } from '../../core/validation/validation.ts';
import { displayAttention } from './attention-display.ts';
import { type AttentionMix, attentionMix, type UnifiedAttentionOptions } from './options.ts';
import { type Attention, computeCosines, computeRingAttentionWeights } from './ring-attention.ts';
import { buildRingGeometry } from './ring-geometry.ts';
import {
  assertTrajectoryInputs,
  computeTrajectoryWeights,
  type TrajectoryAttentionInputs,
} from './trajectory-attention.ts';

/** @throws ValidationError for shares that are negative or do not sum to 1 within 0.01. */
export function assertMix(mix: AttentionMix): void {
  const checked = check(attentionMix, mix);
  if ('value' in checked) return;
  const [{ path, expected }] = checked.faults as [ConfigurationFault];
  throw new ValidationError(`invalid mix: ${JSON.stringify(mix)}; pass ${expected} (${path})`, { mix });
}

/** `rcp RCP + ircp IRCP + tpo TPO`, of any shape. */
export function mixAttentions<T extends tf.Tensor>(
  parts: Readonly<Record<keyof AttentionMix, T>>,
  mix: AttentionMix,
): T {
  return scoped('mixed', () =>
    tf.add(tf.add(tf.mul(parts.rcp, mix.rcp), tf.mul(parts.ircp, mix.ircp)), tf.mul(parts.tpo, mix.tpo)),
  );
}

/**
 * The mix of the three mechanisms (section 4.2.4 of diomande2026ragpp). A row sums to less than 1 if a mechanism has no admissible key for it.
 *
 * @throws ValidationError for a mix that doesn't sum to 1, DimensionMismatchError for inputs that don't fit.
 */
export function unifiedAttention(inputs: TrajectoryAttentionInputs, options: UnifiedAttentionOptions): Attention {
  assertTrajectoryInputs(inputs);
  assertMix(options.mix);
  const { mode, mix, ...shared } = options;
  const attention = scoped('unifiedAttention', () => {
    const geometry = buildRingGeometry(inputs.queryPositions, inputs.keyPositions, inputs.ringSize);
    const cosine = computeCosines(inputs.queries, inputs.keys);
    const computeDirectedWeights = (direction: 'causal' | 'anticausal') =>
      computeRingAttentionWeights(
        cosine,
        geometry,
        { ...shared, direction: mode === 'literal' ? 'none' : direction },
        inputs.mask,
      );
    const tpo = computeTrajectoryWeights(cosine, geometry, inputs, shared);
    const weights = mixAttentions(
      { rcp: computeDirectedWeights('causal'), ircp: computeDirectedWeights('anticausal'), tpo },
      mix,
    );
    return { weights, output: matmul(weights, inputs.values) };
  });
  return displayAttention(attention);
}
