import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../../core/errors/errors.ts';
import { createRandom } from '../../../core/numbers/random.ts';
import { useBackend } from '../../../core/tensors/backend.ts';
import { RowBlocks } from '../../../core/tensors/row-blocks.ts';
import { drawSampleVector } from '../corpus.fixture.ts';
import { CosineRows } from './table-filler.ts';

beforeAll(() => useBackend('wasm'));
const [N, B, D] = [23, 5, 17];

test('a row holds the products of a query with every turn', async () => {
  const source = createRandom(3, 'cosine-rows');
  const drawCosineRows = (count: number) => Array.from({ length: count }, () => drawSampleVector(source));
  const [turns, queries] = [drawCosineRows(N), drawCosineRows(B)];
  const before = tf.memory().numTensors;
  const rows = new RowBlocks(Float32Array.from(turns.flatMap((row) => [...row])), D);
  const cosines = await CosineRows.of(rows, Float32Array.from(queries.flatMap((row) => [...row])), B);
  expect(tf.memory().numTensors).toBe(before + 1);
  const scores = new Float64Array(N);
  for (const [q, query] of queries.entries()) {
    cosines.copy(q, scores.fill(9));
    for (const [n, turn] of turns.entries()) {
      const product = turn.reduce((sum, value, i) => sum + value * (query[i] as number), 0);
      expect(scores[n]).toBeCloseTo(product, 6);
    }
  }
  await expect(CosineRows.of(rows, new Float32Array(B * 13), B)).rejects.toThrow(DimensionMismatchError);
  rows.dispose();
  expect(tf.memory().numTensors).toBe(before);
});
