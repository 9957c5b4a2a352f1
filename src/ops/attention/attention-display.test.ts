import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { attend } from './attend.ts';
import { displayAttention } from './attention-display.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';
import { ringAttention } from './ring-attention.ts';

beforeAll(() => useBackend('cpu'));

function attendTo(queries: tf.Tensor2D) {
  const keys = tf.tensor2d([1, 0, 0, 1, 1, 1], [3, 2]);
  const [count] = queries.shape;
  const position = {
    queryPositions: tf.tensor1d(
      Array.from({ length: count }, (_, at) => at),
      'int32',
    ),
    keyPositions: tf.tensor1d([0, 1, 2], 'int32'),
  };
  const inputs = { queries, keys, values: keys, ...position, ringSize: 3 };
  const attention = ringAttention(inputs, RING_ATTENTION_DEFAULTS);
  tf.dispose({ ...inputs });
  return attention;
}

test('attention weights are a heat map with a cell for each pair, read back when shown', async () => {
  const attention = attendTo(tf.tensor2d([1, 0, 0, 1], [2, 2]));
  const before = tf.memory().numTensors;
  const bundle = await readDisplay(attention);
  expect(tf.memory().numTensors).toBe(before);
  expect(bundle['text/plain']).toBe('attention weights of 2 queries over 3 keys\nheatmap of 6 values');
  const { data } = bundle['application/vnd.plotly.v1+json'] as { data: [{ type: string; z: number[][] }] };
  expect(data[0].z).toEqual(await attention.weights.array());
  expect(Object.keys(attention)).toEqual(['weights', 'output']);
  tf.dispose({ ...attention });
  expect(await readDisplay(attention)).toEqual({
    'text/plain': 'attention weights of 2 queries over 3 keys, disposed',
  });
});

test('weights that are too many for a notebook are text', async () => {
  const attention = displayAttention({ weights: tf.zeros<tf.Rank.R2>([401, 251]) });
  expect(await readDisplay(attention)).toEqual({
    'text/plain':
      'attention weights of 401 queries over 251 keys; a figure shows at most 100,000 weights: take a part of them with tf.slice2d',
  });
  tf.dispose({ ...attention });
});

test('the weights of one query are bars', async () => {
  const attention = attendTo(tf.tensor2d([1, 0], [1, 2]));
  expect((await readDisplay(attention))['text/plain']).toContain('bar of 3 values');
  tf.dispose({ ...attention });
});

test('banded attention shows its method, width and error', async () => {
  const rows = Float32Array.of(1, 0, 0, 1, 1, 1);
  const attended = await attend({ turns: 3, queries: rows, keys: rows, values: rows }, RING_ATTENTION_DEFAULTS);
  const { 'text/plain': text } = await readDisplay(attended);
  expect(text.split('\n').slice(0, 2)).toEqual([
    'ring attention',
    expect.stringMatching(/^method +reason +bandWidth +errorBound/),
  ]);
  expect(text).toContain('dense');
});
