import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/backend.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import type { Plain } from '../config/config-file.ts';
import { buildSampleConfig, writeSampleJsonl } from '../run/jsonl.fixture.ts';
import { askArm } from './ask.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-ask-arm-'));
let config: ExperimentConfig;
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(root);
  config = resolveConfig(buildSampleConfig(root) as Plain, 'sample');
});
afterAll(() => rmSync(root, { recursive: true }));

test('an arm is asked without a folder, and no tensor is left of it, whether it answers or not', async () => {
  const before = tf.memory().numTensors;
  const { prompt, ranking } = await askArm(config, 'hybrid', { text: 'violin bow' }, { cacheFolder: null });
  expect(ranking.length).toBeGreaterThan(5);
  expect(prompt).toContain('violin');
  expect(tf.memory().numTensors).toBe(before);
  const refused = askArm(config, 'hybrid', { text: 'x', anchorTurnId: 'none' }, { cacheFolder: null });
  await expect(refused).rejects.toThrow('corpus has no turn: none');
  expect(tf.memory().numTensors).toBe(before);
});
