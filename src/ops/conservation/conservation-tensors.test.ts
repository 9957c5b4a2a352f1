import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { computeConservationMetrics } from './conservation-metrics.ts';
import { computeConservationTensors, computeSetConservation } from './conservation-tensors.ts';

const [T, D] = [97, 13];

/** The three figures of a memory, read back; nothing is left on the device. */
async function measureOnDevice(
  rows: number[][],
  salience: number[],
  width = D,
): Promise<Record<string, number | undefined>> {
  const inputs = [tf.tensor2d(rows, [rows.length, width]), tf.tensor1d(salience)] as const;
  const before = tf.memory().numTensors;
  const tensors = computeConservationTensors(...inputs);
  expect(tf.memory().numTensors).toBe(before + 3);
  const figures: Record<string, number | undefined> = {};
  for (const [name, tensor] of Object.entries(tensors)) figures[name] = (await tensor.data())[0];
  tf.dispose([...Object.values(tensors), ...inputs]);
  return figures;
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('is the definition in float32, zero rows and zero saliences included', async () => {
    const source = createRandom(2, 'conservation-tensors.test');
    const rows = Array.from({ length: T }, (_, i) =>
      Array.from({ length: D }, (_, j) => (i === 5 ? 0 : 3 * source.drawNormal() + (j === 0 ? 7 : 0))),
    );
    const salience = rows.map((_, i) => (i === 11 ? 0 : 50 * source.uniform()));
    const total = salience.reduce((a, b) => a + b);
    let [magnitude, energy, information] = [0, 0, 0];
    for (const [i, a] of rows.entries()) {
      const share = (salience[i] as number) / total;
      magnitude += share * Math.hypot(...a);
      if (share > 0) information -= share * Math.log(share);
      for (const [j, b] of rows.entries()) {
        if (i === 5 || j === 5) continue;
        const cosine =
          a.reduce((sum, value, k) => sum + value * (b[k] as number), 0) / Math.hypot(...a) / Math.hypot(...b);
        energy += (share * (salience[j] as number) * cosine) / total / 2;
      }
    }
    const got = await measureOnDevice(rows, salience);
    for (const [name, expected] of Object.entries({ magnitude, energy, information }))
      expect(Math.abs((got[name] as number) - expected), name).toBeLessThan(1e-5 + 1e-5 * Math.abs(expected));
  });

  test('one record, zero rows only, no salience and no record have defined figures', async () => {
    expect(await measureOnDevice([[0, 3, 4]], [7], 3)).toEqual({ magnitude: 5, energy: 0.5, information: 0 });
    expect(
      await measureOnDevice(
        [
          [0, 0],
          [0, 0],
        ],
        [2, 2],
        2,
      ),
    ).toMatchObject({ magnitude: 0, energy: 0 });
    const zeros = { magnitude: 0, energy: 0 };
    expect(
      await measureOnDevice(
        [
          [1, 0],
          [0, 1],
        ],
        [0, 0],
        2,
      ),
    ).toMatchObject(zeros);
    expect(await measureOnDevice([], [], 2)).toMatchObject(zeros);
    for (const [rows, salience] of [
      [
        [
          [1, 0],
          [0, 1],
        ],
        [0, 0],
      ],
      [[], []],
    ] as const)
      expect(
        Math.abs(
          (
            await measureOnDevice(
              rows.map((row) => [...row]),
              [...salience],
              2,
            )
          ).information as number,
        ),
      ).toBe(0);
  });

  test('refuses other shapes and what float32 cannot sum, and leaves nothing behind', () => {
    const [rows, short, many, weights] = [tf.zeros([5, 3]), tf.ones([4]), tf.zeros([10_001, 2]), tf.ones([10_001])];
    const before = tf.memory().numTensors;
    expect(() => computeConservationTensors(rows as tf.Tensor2D, short as tf.Tensor1D)).toThrow(
      'shape of salience: expected [T]',
    );
    expect(() => computeConservationTensors(many as tf.Tensor2D, weights as tf.Tensor1D)).toThrow(
      '10001 records are more than 10000',
    );
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([rows, short, many, weights]);
  });

  test('of many sets at once is that of each by itself, in which padding counts for nothing', async () => {
    const source = createRandom(3, 'conservation-tensors.test');
    const [B, K] = [7, 11];
    const rows = Float32Array.from({ length: B * K * D }, () => 2 * source.drawNormal() + 1);
    rows.fill(0, D, 2 * D);
    const weights = Float32Array.from({ length: B * K }, (_, i) =>
      i % K >= K - Math.floor(i / K) ? 0 : source.uniform(),
    );
    weights.fill(0, (B - 1) * K);
    const inputs = [tf.tensor3d(rows, [B, K, D]), tf.tensor2d(weights, [B, K])] as const;
    const before = tf.memory().numTensors;
    const sets = computeSetConservation(...inputs);
    expect([sets.shape, tf.memory().numTensors]).toEqual([[B, 3], before + 1]);
    const got = await sets.data();
    tf.dispose([sets, ...inputs]);
    expect([...got.subarray((B - 1) * 3)].map(Math.abs)).toEqual([0, 0, 0]);
    for (let set = 0; set < B - 1; set++) {
      const vectors = Float64Array.from(rows.subarray(set * K * D, (set + 1) * K * D));
      const expected = computeConservationMetrics(vectors, weights.subarray(set * K, (set + 1) * K));
      for (const [i, name] of (['magnitude', 'energy', 'information'] as const).entries())
        expect(Math.abs((got[set * 3 + i] as number) - expected[name]), `${name} of set ${set}`).toBeLessThan(2e-5);
    }
  });
});
