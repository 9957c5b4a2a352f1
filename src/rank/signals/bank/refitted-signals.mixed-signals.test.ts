import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../../core/tensors/backend.ts';
import { drawSamplePool } from '../columns.harness.ts';
import { scoringOptions } from './options.ts';
import { mixSignals } from './refitted-signals.ts';
import { signalTable } from './signal-bank.ts';
import { createThreadsWorkspace, drawSampleThreads } from './threads.fixture.ts';

beforeAll(() => useBackend('wasm'));

test.each<[string, Record<string, number>]>([
  [
    'several signals',
    { 'bm25@share': 0.7, cosine: -1.3, 'decay.6h': 2, 'thread.leaf*decay.24h': 0.31, 'attention.rcp': 11 },
  ],
  ['one', { 'form.length': 1 }],
  ['none', {}],
])('the score is the weighted sum of %s, and 0 where the pool is padded', async (_, weights) => {
  const before = tf.memory().numTensors;
  const workspace = createThreadsWorkspace(drawSampleThreads(3));
  const pool = await drawSamplePool(workspace);
  const options = scoringOptions.parse({ weights });
  const { signals, values } = await workspace.get(signalTable(options.signals), pool);
  const scores = await mixSignals(workspace, pool, options);
  workspace.dispose();
  expect(tf.memory().numTensors).toBe(before);
  expect(scores).toHaveLength(pool.positions.length);
  expect(pool.positions).toContain(-1);
  for (const [pair, position] of pool.positions.entries()) {
    let sum = 0;
    for (const [name, weight] of Object.entries(weights))
      sum += weight * (values[pair * signals.length + signals.indexOf(name)] as number);
    expect(scores[pair]).toBeCloseTo(position < 0 ? 0 : sum, 4);
  }
});
