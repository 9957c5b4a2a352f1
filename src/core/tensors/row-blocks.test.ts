import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../errors/errors.ts';
import { createRandom } from '../numbers/random.ts';
import { useBackend } from './backend.ts';
import { matmul } from './matmul.ts';
import { RowBlocks } from './row-blocks.ts';

const source = createRandom(2, 'row-blocks');
const drawRows = (count: number, width: number) =>
  Float32Array.from({ length: count * width }, () => source.drawNormal());

/** The product of all rows at once. */
function multiplyWhole(rows: Float32Array, dimension: number, columns: tf.Tensor2D): Float32Array {
  const product = tf.tidy(() => matmul(tf.tensor2d(rows, [rows.length / dimension, dimension]), columns));
  const values = product.dataSync<'float32'>();
  product.dispose();
  return values;
}

function multiply(blocks: RowBlocks, columns: tf.Tensor2D): Float32Array {
  const product = blocks.multiply(columns);
  const values = product.dataSync<'float32'>();
  expect(product.shape).toEqual([blocks.size, columns.shape[1]]);
  product.dispose();
  return values;
}

describe.each(['wasm', 'cpu'] as const)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([
    [3, 1, 5],
    [17, 3, 4],
    [31, 64, 7],
    [128, 1, 13],
  ])('rows of %i times %i columns have the bits of the whole product, in blocks of %i', (dimension, count, size) => {
    const before = tf.memory().numTensors;
    const columns = tf.tensor2d(drawRows(dimension, count), [dimension, count]);
    const rows = drawRows(53, dimension);
    const grown = new RowBlocks(new Float32Array(0), dimension, size);
    expect(multiply(grown, columns)).toHaveLength(0);
    for (const end of [1, 2, size - 1, size, size + 1, 2 * size, 2 * size, 29, 53]) {
      const seen = rows.subarray(0, Math.max(grown.size, end) * dimension);
      grown.growTo(seen);
      const fresh = new RowBlocks(seen, dimension, size);
      expect(multiply(grown, columns)).toEqual(multiplyWhole(seen, dimension, columns));
      expect(multiply(fresh, columns)).toEqual(multiply(grown, columns));
      fresh.dispose();
    }
    grown.dispose();
    grown.dispose();
    expect(() => grown.multiply(columns)).toThrow(ValidationError);
    columns.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  test('a later row has the last block uploaded again, and no other', () => {
    const before = tf.memory().numTensors;
    const rows = drawRows(11, 2);
    const blocks = new RowBlocks(rows.subarray(0, 20), 2, 4);
    expect(tf.memory().numTensors).toBe(before + 3);
    const held = rows.slice();
    rows.fill(0, 0, 16); // of blocks that stay as they are
    blocks.growTo(rows);
    const identity = tf.eye(2) as tf.Tensor2D;
    if (backend === 'wasm') expect(multiply(blocks, identity)).toEqual(held);
    identity.dispose();
    blocks.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
