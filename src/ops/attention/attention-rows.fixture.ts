import * as tf from '@tensorflow/tfjs-core';
import { createRandom } from '../../core/numbers/random.ts';
import type { PlainRows } from './attention-weights.oracle.ts';
import type { AttentionInputs } from './ring-attention.ts';

/**
 * 5 queries and 13 keys on a ring of 17, at positions in no order, a zero vector and a duplicate among them.
 *
 * @param isMasked masks all keys of one query, all but one of another, and a quarter of the others'
 */
export function drawSampleRows(isMasked: boolean): PlainRows {
  const [B, T, D, V, N] = [5, 13, 7, 3, 17];
  const source = createRandom(11, 'sample-rows');
  const drawPlainMatrix = (rows: number, columns: number) =>
    Array.from({ length: rows }, () => Array.from({ length: columns }, () => source.drawNormal()));
  const drawPositions = () => source.shuffle(Array.from({ length: N }, (_, position) => position));
  const [queries, keys, values] = [drawPlainMatrix(B, D), drawPlainMatrix(T, D), drawPlainMatrix(T, V)];
  keys[4] = Array(D).fill(0);
  queries[3] = Array(D).fill(0);
  keys[6] = keys[2] as number[];
  const rows = { queries, keys, values, ringSize: N };
  const placed = { ...rows, queryPositions: drawPositions().slice(0, B), keyPositions: drawPositions().slice(0, T) };
  if (!isMasked) return placed;
  const mask = Array.from({ length: B }, (_, i) =>
    Array.from({ length: T }, (_, j) => (i === 2 ? 0 : i === 4 ? Number(j === 5) : Number(source.integer(4) > 0))),
  );
  return { ...placed, mask };
}

export function uploadPlainRows(rows: PlainRows): AttentionInputs {
  const drawPlainMatrix = (numbers: readonly (readonly number[])[]) => tf.tensor2d(numbers as number[][]);
  const inputs = {
    queries: drawPlainMatrix(rows.queries),
    keys: drawPlainMatrix(rows.keys),
    values: drawPlainMatrix(rows.values),
    queryPositions: tf.tensor1d(rows.queryPositions as number[], 'int32'),
    keyPositions: tf.tensor1d(rows.keyPositions as number[], 'int32'),
    ringSize: rows.ringSize,
  };
  if (rows.mask === undefined) return inputs;
  return { ...inputs, mask: tf.tensor2d(rows.mask as number[][], [rows.queries.length, rows.keys.length], 'bool') };
}
