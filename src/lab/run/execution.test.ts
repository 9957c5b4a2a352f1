import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { openArmRunner } from './arm-runner.ts';
import { captureEnvironment } from './environment.ts';
import { ArmsProgress, executeHere, type PreparedRun } from './execution.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-execution-'));
afterAll(() => rmSync(folder, { recursive: true }));

const arms = {
  failing: {
    description: 'Its numbers overflow.',
    steps: [{ search: { bm25: { k: 17, variant: 'bm25l', k1: 1.7e308 } } }],
  },
  tuned: { steps: [{ search: { newest: { k: 19 } } }], tune: { 'newest.k': [7, 19] } },
};
const config = resolveConfig(
  { ...buildSampleConfig(folder), evaluation: { baseline: 'tuned' }, arms } as Plain,
  'sample',
);

/** The reports that a progress bar received. */
const told: (string | number)[] = [];
const recordStages: StartProgress = (stage, total) => {
  told.push(stage, total);
  return { update: (done) => void told.push(done), finish: (remark) => void told.push(remark ?? '') };
};
let run: PreparedRun;
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(folder);
  const cacheFolder = join(folder, 'cache');
  const runner = await openArmRunner(config, { cacheFolder });
  const environment = captureEnvironment('wasm', config.seed, 'ragpp run');
  run = {
    config,
    arms: config.arms,
    idle: new Map(),
    hash: 'x',
    environment,
    backend: 'wasm',
    cacheFolder,
    runner,
    progress: recordStages,
    sliceKeys: null,
  };
});
afterAll(() => run.runner.dispose());

test('an arm that fails is an outcome, those after it run, and the bar moves with the parts of each', async () => {
  told.length = 0;
  const { records, failures } = await executeHere(run);
  expect(records.map(({ name, options }) => [name, options.name])).toEqual([['tuned', 'tuned']]);
  expect(failures).toEqual([
    {
      name: 'failing',
      description: 'Its numbers overflow.',
      code: 'NOT_FINITE',
      message: expect.stringMatching(/is not finite/),
    },
  ]);
  expect(told).toEqual(['arms', 2, 1, 1 + 1 / 3, 1 + 2 / 3, 2, '2 arms on 14 queries, 1 failed']);
});

test('of arms that are run beside each other the bar shows the sum', () => {
  told.length = 0;
  const bar = new ArmsProgress(run, 3);
  bar.report('a', 0.25);
  bar.report('b', 0.5);
  bar.report('a', 1);
  bar.finish(0);
  expect(told).toEqual(['arms', 3, 0.25, 0.75, 1.5, '3 arms on 14 queries']);
});
