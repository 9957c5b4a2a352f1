import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';

/** What is freed when its owner is. */
export type Owned = tf.Tensor | tf.NamedTensorMap | { dispose(): void };

function isDisposable(owned: Owned): owned is { dispose(): void } {
  return 'dispose' in owned && typeof owned.dispose === 'function';
}

/**
 * Results that cannot be stored, such as tensors and indexes: made once for each key, kept until `dispose()`. Throws
 * after it.
 */
export class Resources {
  readonly #results = new Map<string, Promise<unknown>>();
  readonly #owned: { dispose(): void }[] = [];
  #disposed = false;

  /** @throws ValidationError after `dispose()`. */
  assertAlive(asked: unknown): void {
    if (this.#disposed)
      throw new ValidationError(`workspace was disposed: ${JSON.stringify(asked)}; open a new workspace`);
  }

  /** @throws ValidationError after `dispose()`, also where that comes before the computation has begun. */
  async keepOnce<T>(key: unknown, compute: () => Promise<T> | T): Promise<T> {
    this.assertAlive(key);
    const computeLater = async () => {
      await letEventsIn();
      this.assertAlive(key);
      return compute();
    };
    return getOrCompute(this.#results, computeHash(key), computeLater) as Promise<T>;
  }

  /** Keeps tensors or an index until `dispose()`. */
  keep<T extends Owned>(owned: T): T {
    const held = isDisposable(owned) ? owned : { dispose: () => tf.dispose(owned as tf.NamedTensorMap) };
    if (this.#disposed) held.dispose();
    this.assertAlive('keep');
    this.#owned.push(held);
    return owned;
  }

  dispose(): void {
    this.#disposed = true;
    for (const owned of this.#owned) owned.dispose();
    this.#owned.length = 0;
    this.#results.clear();
  }
}
