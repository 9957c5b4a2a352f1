import type { Tensor } from '@tensorflow/tfjs-core';
import { DimensionMismatchError } from '../errors/errors.ts';

/** Sizes bound so far: B queries, C candidates, N corpus, D dimension, T turns, V nodes, E edges, K kept. */
export type Sizes = Record<string, number>;

/**
 * Checks a tensor's shape against named sizes, for example `assertShape('keys', keys, 'T D', sizes)`, and binds the names it meets for the first time.
 * A number in the pattern stands for itself.
 *
 * @throws DimensionMismatchError that prints the bindings.
 */
export function assertShape(name: string, tensor: Pick<Tensor, 'shape'>, pattern: string, sizes: Sizes = {}): Sizes {
  const letters = pattern === '' ? [] : pattern.split(' ');
  const fits =
    letters.length === tensor.shape.length &&
    letters.every((letter, axis) => {
      const size = tensor.shape[axis] as number;
      const known = /^\d+$/.test(letter) ? Number(letter) : sizes[letter];
      if (known === undefined) sizes[letter] = size;
      return known === undefined || known === size;
    });
  if (!fits) {
    const bindings = Object.entries(sizes).map(([letter, size]) => `${letter}=${size}`);
    throw new DimensionMismatchError(
      `shape of ${name}`,
      `[${letters.join(', ')}]${bindings.length > 0 ? ` with ${bindings.join(', ')}` : ''}`,
      `[${tensor.shape.join(', ')}]`,
    );
  }
  return sizes;
}
