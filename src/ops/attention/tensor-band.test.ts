import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { COMBINATIONS } from './attention-options.cases.ts';
import { checkRows } from './attention-rows.ts';
import { computeHostBand } from './host-band.ts';
import { computeTensorBand } from './tensor-band.ts';

const [T, D, V, W] = [701, 9, 5, 6];
const source = createRandom(5, 'tensor-band.test');
const drawRows = (rows: number, width: number) =>
  Float32Array.from({ length: rows * width }, () => source.drawNormal());
const [keys, values] = [drawRows(T, D), drawRows(T, V)];
const some = [0, 0, 1, 6, 300, 301, 699, 700, 700];

describe.each(TEST_BACKENDS)('the band by tensors on %s is that of the kernel', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(COMBINATIONS)('%s', async (_, options) => {
    const keyMask = Uint8Array.from({ length: T }, (_, i) => Number(i % 5 > 0));
    for (const inputs of [
      { turns: T, queries: keys, keys, values },
      { turns: T, queries: keys, keys, values, keyMask },
      { turns: T, queries: drawRows(some.length, D), queryRingPositions: Int32Array.from(some), keys, values },
    ]) {
      const rows = checkRows(inputs);
      const before = tf.memory().numTensors;
      const found = await computeTensorBand(rows, W, options);
      expect(tf.memory().numTensors).toBe(before);
      const expected = await computeHostBand(rows, W, options);
      expect(found.length).toBe(expected.length);
      let worst = 0;
      for (const [i, value] of found.entries()) worst = Math.max(worst, Math.abs(value - (expected[i] as number)));
      expect(worst).toBeLessThan(2e-5);
      expect(expected.some((value) => value !== 0)).toBe(true);
    }
  });
});
