import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { assertShape } from '../../core/tensors/shapes.ts';
import { attentionLogits, type LogitOptions } from '../../ops/attention/attention-logits.ts';

/**
 * Directed IRCP: each candidate looks forward over the turns after it up to and including the query, and its score is the weight that falls on the query:
 * `e^l / (e^l + sum_j e^l_j)`, a column of the anticausal attention matrix of its conversation with the query as last turn.
 *
 * @param cosine [B, C] of query and candidate
 * @param distance [B, C] ring (or line) steps from candidate to query
 * @param logMasses [B, C] of the other keys, from `computeForwardLogMasses` with the same options
 * @param mask bool [B, C], false for padding
 * @returns [B, C] in [0, 1], 0 for padding
 */
export function forwardAttention(
  cosine: tf.Tensor2D,
  distance: tf.Tensor2D,
  logMasses: tf.Tensor2D,
  mask: tf.Tensor2D,
  options: LogitOptions,
): tf.Tensor2D {
  const sizes = assertShape('cosine', cosine, 'B C');
  assertShape('distance', distance, 'B C', sizes);
  assertShape('logMasses', logMasses, 'B C', sizes);
  assertShape('mask', mask, 'B C', sizes);
  return scoped('forwardAttention', () => {
    const logits = attentionLogits(cosine, distance, options);
    return tf.mul(tf.sigmoid(tf.sub(logits, logMasses)), tf.cast(mask, 'float32'));
  });
}
