import * as tf from '@tensorflow/tfjs-core';

/**
 * A function's value and the gradients of `sum(dy f)` by its inputs. What tfjs keeps for the way back it lets go of only at its end: where the device fails before
 * that, this does.
 *
 * @param dy of the value's shape
 */
export function computeValueAndGradients(
  f: (...inputs: tf.Tensor[]) => tf.Tensor,
  inputs: tf.Tensor[],
  dy: tf.Tensor,
): { readonly value: tf.Tensor; readonly grads: readonly tf.Tensor[] } {
  const engine = tf.engine();
  const keep = engine.keep.bind(engine);
  const kept: tf.Tensor[] = [];
  const noting: Pick<typeof engine, 'keep'> = {
    keep: (tensor) => {
      kept.push(tensor);
      return keep(tensor);
    },
  };
  Object.assign(engine, noting);
  try {
    return tf.valueAndGrads(f)(inputs, dy);
  } catch (error) {
    tf.dispose(kept);
    throw error;
  } finally {
    Reflect.deleteProperty(engine, 'keep'); // back to that of its class
  }
}
