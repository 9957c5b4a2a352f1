import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMemory } from '../../memory/engine/open-memory.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { findDifference, replayArm } from './arm-replay.ts';
import { loadReplayedSample, REPLAYED_ARMS } from './replayed-arms.fixture.ts';
import { freezeArm, serveArm } from './served-arm.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-replay-'));
afterAll(() => rmSync(root, { recursive: true }));

let config: ExperimentConfig;
let dataset: Dataset;
beforeAll(async () => {
  ({ config, dataset } = await loadReplayedSample(root));
});

test.each(REPLAYED_ARMS)('a memory that grows answers as the run of %s, byte for byte', async (arm) => {
  const before = tf.memory().numTensors;
  const { batch, live, difference, queries, turns } = await replayArm(config, arm, {
    ...{ cacheFolder: null, dataset, limit: 9 },
  });
  expect(difference).toBe(null);
  expect(live).toBe(batch);
  expect(live.split('\n').length).toBeGreaterThan(40);
  expect([queries, turns > 40]).toEqual([9, true]);
  expect(tf.memory().numTensors).toBe(before);
});

test('the first line that differs is found, also where one file ends earlier', () => {
  expect(findDifference('a\nb\n', 'a\nb\n')).toBe(null);
  expect(findDifference('a\nb\nc\n', 'a\nd\nc\n')).toEqual({ batch: 'b', live: 'd' });
  expect(findDifference('a\n', 'a\nb\n')).toEqual({ batch: '', live: 'b' });
  expect(findDifference('', 'a\n')).toEqual({ batch: '', live: 'a' });
});

test('an arm that the config lacks is an error', async () => {
  await expect(replayArm(config, 'none', { cacheFolder: null, dataset })).rejects.toThrow('none');
});

test('an arm is served, tuned, to a memory of records that the dataset lacks, and no tensor is left of it', async () => {
  const before = tf.memory().numTensors;
  const inputs = { cacheFolder: null, dataset };
  const frozen = await freezeArm(config, 'Decayed × 2', inputs);
  expect(frozen.arms).toHaveLength(1);
  const arm = await serveArm(frozen, 'Decayed × 2', inputs);
  const memory = await openMemory({ arm });
  await memory.add({ id: 'a', context: 'the violin bow is broken', createdAt: 1000 });
  await memory.add({ id: 'b', context: 'garlic soup again', createdAt: 2000 });
  const { ranking } = await memory.ask({ text: 'violin bow' });
  expect(ranking.map(({ id }) => id)).toEqual(['a', 'b']);
  await memory.close();
  await arm.dispose();
  await expect(serveArm(config, 'none', inputs)).rejects.toThrow('none');
  expect(tf.memory().numTensors).toBe(before);
});
