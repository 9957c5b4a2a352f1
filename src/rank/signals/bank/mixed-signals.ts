import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../../core/tensors/matmul.ts';
import { readBack } from '../../../core/tensors/scope.ts';
import type { CandidatePool, Column } from '../candidate-pool.ts';
import type { World } from '../signal.ts';
import type { ScoringOptions } from './options.ts';
import { signalTable } from './signal-bank.ts';

/** Numbers of a table on the device at a time: 64 MB. */
const BLOCK = 2 ** 24;

/**
 * Every candidate's weighted sum of signals.
 *
 * @returns [Q, C]; 0 where the pool is padded.
 */
export async function mixSignals(
  world: World,
  pool: CandidatePool,
  { signals, weights }: ScoringOptions,
): Promise<Column> {
  const { signals: names, values } = await world.get(signalTable(signals), pool);
  const F = names.length;
  const vector = Float32Array.from(names, (name) => weights[name] ?? 0);
  const scores = new Float32Array(pool.positions.length);
  const rows = Math.max(1, Math.floor(BLOCK / F));
  for (let first = 0; first < scores.length; first += rows) {
    const count = Math.min(rows, scores.length - first);
    const block = values.subarray(first * F, (first + count) * F);
    const sums = await readBack('mixedSignals', () =>
      matmul(tf.tensor2d(block, [count, F]), tf.tensor2d(vector, [F, 1])),
    );
    scores.set(sums, first);
  }
  return scores;
}
