import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../../core/tensors/backend.ts';
import type { FeatureTable } from '../../learning/feature-table.ts';
import { createLinearModel } from '../../learning/linear-model.ts';
import { scoreTable } from '../../learning/model.ts';
import { drawSamplePool } from '../columns.harness.ts';
import { scoringOptions } from './options.ts';
import { mixSignals, readMixedSignals } from './refitted-signals.ts';
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

test('signals that are standardised by question are those of training tables, in the score and in its parts', async () => {
  const before = tf.memory().numTensors;
  const workspace = createThreadsWorkspace(drawSampleThreads(3));
  const pool = await drawSamplePool(workspace);
  const weights = { 'bm25@share': 0.7, cosine: -1.3, 'decay.6h': 2 };
  const options = scoringOptions.parse({ weights, normalise: 'question' });
  const table = await workspace.get(signalTable(options.signals), pool);
  const scores = await mixSignals(workspace, pool, options);
  const read = await readMixedSignals(workspace, pool, options);
  workspace.dispose();
  expect(tf.memory().numTensors).toBe(before);

  const { width, queryCount, positions } = pool;
  const names = Array.from({ length: queryCount }, (_, q) => `q${q}`);
  const judged = { grades: new Float32Array(positions.length), missed: new Int32Array(queryCount) };
  const rows: FeatureTable = {
    ...{ ...table, ...judged, width, queryIds: names, clusters: names, relevantGrade: 1 },
    ...{ mask: Uint8Array.from(positions, (position) => Number(position >= 0)), missedGrades: new Float32Array() },
  };
  const unit = { means: new Float64Array(3), deviations: new Float64Array(3).fill(1) };
  const model = createLinearModel({ signals: read.signals, normalise: 'question' }, unit);
  expect(new Set(read.signals)).toEqual(new Set(Object.keys(weights)));
  expect(model.standardise(rows, read.signals)).toEqual(read.values);
  const values = Float64Array.from(read.signals, (name) => weights[name as keyof typeof weights]);
  const trained = await scoreTable(model, values, rows);
  for (const [pair, score] of scores.entries()) expect(score).toBeCloseTo(trained[pair]!, 5);
});
