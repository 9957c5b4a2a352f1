import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import type { PropagationOptions } from './options.ts';
import { PROPAGATION_PRESETS } from './presets.ts';
import { propagateAtMoments, propagateEmbeddings } from './propagation.ts';

async function propagatePlainRows(rows: number[][], options: PropagationOptions): Promise<number[][]> {
  const embeddings = tf.tensor2d(rows);
  const result = propagateEmbeddings(embeddings, options);
  const got = await result.array();
  tf.dispose([embeddings, result]);
  return got;
}

function expectRows(got: number[][], expected: number[][]): void {
  for (const [i, row] of expected.entries())
    for (const [d, value] of row.entries()) expect(got[i]?.[d]).toBeCloseTo(value, 5);
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('mixes a turn with its neighbours, by hand', async () => {
    // Each row sees both others one step away on the ring of three. Logits: 1 for a cosine of 1, 1/2 for 0.
    const [same, other] = [Math.E, Math.exp(0.5)];
    const share = other / (same + other);
    const pair = [1 - share + 1, share].map((x) => x / Math.hypot(2 - share, share));
    expectRows(
      await propagatePlainRows(
        [
          [1, 0],
          [1, 0],
          [0, 1],
        ],
        PROPAGATION_PRESETS.framework,
      ),
      [pair, pair, [Math.SQRT1_2, Math.SQRT1_2]],
    );
  });

  test.each(Object.keys(PROPAGATION_PRESETS) as (keyof typeof PROPAGATION_PRESETS)[])(
    'a single turn stays what it is: %s',
    async (preset) => expectRows(await propagatePlainRows([[0.6, 0.8]], PROPAGATION_PRESETS[preset]), [[0.6, 0.8]]),
  );

  test('as published it moves nothing by more than a little', async () => {
    const rows = [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ];
    for (const [i, row] of (await propagatePlainRows(rows, PROPAGATION_PRESETS.published)).entries())
      expect(row[i]).toBeGreaterThan(0.999);
  });

  test('a zero vector takes its neighbours, zero vectors alone stay zero', async () => {
    const rows = [
      [0, 0],
      [3 / 5, 4 / 5],
    ];
    expect((await propagatePlainRows(rows, PROPAGATION_PRESETS.framework))[0]?.[1]).toBeCloseTo(0.8, 6);
    expect(await propagatePlainRows([[0, 0]], PROPAGATION_PRESETS.framework)).toEqual([[0, 0]]);
  });

  test('a few turns of many are not paid for as all of them', async () => {
    const [T, D, R] = [101, 7, 3];
    const source = createRandom(5, 'propagation.test');
    const inputs = {
      embeddings: tf.tensor2d(
        Float32Array.from({ length: T * D }, () => source.drawNormal()),
        [T, D],
      ),
      turns: tf.tensor1d([2, 97, 50], 'int32'),
      sizes: tf.fill<tf.Rank.R1>([R], T, 'int32'),
    };
    const { kernels, result } = await tf.profile(() =>
      propagateAtMoments(inputs.embeddings, inputs.turns, inputs.sizes, PROPAGATION_PRESETS.framework),
    );
    const sizes = kernels.flatMap(({ outputShapes }) => outputShapes.map((shape) => tf.util.sizeFromShape(shape)));
    expect(Math.max(...sizes)).toBe(T * D);
    tf.dispose([...Object.values(inputs), result as tf.Tensor]);
  });

  test('nothing leaks, also when it throws', () => {
    const embeddings = tf.ones([3, 2]) as tf.Tensor2D;
    const before = tf.memory().numTensors;
    propagateEmbeddings(embeddings, PROPAGATION_PRESETS.framework).dispose();
    expect(tf.memory().numTensors).toBe(before);
    embeddings.dispose();
    expect(() => propagateEmbeddings(embeddings, PROPAGATION_PRESETS.framework)).toThrow();
    expect(tf.memory().numTensors).toBe(before - 1);
  });
});
