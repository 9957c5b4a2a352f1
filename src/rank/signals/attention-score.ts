import type * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { assertShape } from '../../core/tensors/shapes.ts';
import { attentionLogits, type LogitOptions } from '../../ops/attention/attention-logits.ts';
import { maskedSoftmax } from '../../ops/attention/masked-softmax.ts';
import type { AttentionMix } from '../../ops/attention/options.ts';
import { assertMix, mixAttentions } from '../../ops/attention/unified-attention.ts';

/**
 * A query's attention over its candidates: softmax of the logits of cosine and distance. With ring distances, each in the candidate's own conversation, it is
 * RCP (and literal IRCP, the same); with trajectory distances it is TPO. The query stands last, so causal attention keeps all candidates.
 *
 * @param cosine [B, C]
 * @param distance [B, C]
 * @param mask bool [B, C], false for padding
 * @returns [B, C]; a row sums to 1, or is all zeros where it has no candidate
 */
export function candidateAttention(
  cosine: tf.Tensor2D,
  distance: tf.Tensor2D,
  mask: tf.Tensor2D,
  options: LogitOptions,
): tf.Tensor2D {
  const sizes = assertShape('cosine', cosine, 'B C');
  assertShape('distance', distance, 'B C', sizes);
  assertShape('mask', mask, 'B C', sizes);
  return scoped('candidateAttention', () => maskedSoftmax(attentionLogits(cosine, distance, options), mask));
}

/**
 * Unified scores, the mix of the three.
 *
 * @param scores [B, C] each
 * @returns [B, C]
 * @throws ValidationError for a mix that doesn't sum to 1 within 0.01.
 */
export function mixUnifiedScores(
  scores: Readonly<Record<'rcp' | 'ircp' | 'tpo', tf.Tensor2D>>,
  mix: AttentionMix,
): tf.Tensor2D {
  const sizes = assertShape('rcp', scores.rcp, 'B C');
  assertShape('ircp', scores.ircp, 'B C', sizes);
  assertShape('tpo', scores.tpo, 'B C', sizes);
  assertMix(mix);
  return mixAttentions(scores, mix);
}
