import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { resolveConfig } from '../config/config.ts';
import { FIT_METHODS } from '../config/fitted-arm.ts';
import { writeSampleJsonl } from '../run/jsonl.fixture.ts';
import { runExperiment } from '../run/run.ts';
import { changeSampleTraining } from './training-config.fixture.ts';
import { type FinishedTraining, runTraining } from './training-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-fixed-arms-'));
afterAll(() => rmSync(root, { recursive: true }));
writeSampleJsonl(root);
const sample = changeSampleTraining(root, { 'mix.fit.importance': false, 'mix.fit.controls': false });
const fixed = {
  words: { steps: [{ search: { bm25: { k: 7 } } }] },
  fading: { from: 'words', then: [{ decay: 24 }] },
};
const { learned } = sample.arms as { readonly learned: object };
const evaluation = { ...sample.evaluation, baseline: 'words' };
const config = resolveConfig({ ...sample, evaluation, arms: { ...fixed, learned } }, 'test');
const context = { cacheFolder: join(root, 'cache'), backend: 'cpu' as const, command: 'ragpp run sample' };

let beside: FinishedTraining;
beforeAll(async () => {
  await useBackend('cpu');
  beside = await runTraining(config, context);
});

test('arms that are not fitted have their rows and rankings before those of the fit', () => {
  const names = ['words', 'fading', ...FIT_METHODS];
  expect(beside.result.arms.map(({ name }) => name)).toEqual(names);
  expect([...beside.runs.keys()]).toEqual(names);
  expect(beside.result.baseline).toBe('words');
  expect(beside.result.arms.map(({ comparisons }) => comparisons === null)).toEqual(
    names.map((name) => name === 'words'),
  );
  expect(beside.result.remarks).toContain('Not fitted, with encoders of all dev conversations: words, fading.');
  expect(beside.records.map(({ name }) => name)).toEqual(['words', 'fading']);
});

test('they rank and measure as an experiment of their own does', async () => {
  const split = { ...evaluation, split: 'dev' };
  const alone = await runExperiment(resolveConfig({ ...sample, evaluation: split, arms: fixed }, 'test'), context);
  for (const [a, { name, metrics, rankings, options }] of alone.result.arms.entries()) {
    expect(beside.runs.get(name)).toEqual(alone.runs.get(name));
    expect(beside.result.arms[a]).toMatchObject({ metrics, rankings, options });
  }
});

test('the fit is that of an experiment without them', async () => {
  const alone = await runTraining(resolveConfig(sample, 'test'), { ...context, cacheFolder: null }); // computed again
  expect(beside.result.fit).toEqual(alone.result.fit);
  for (const [name, run] of alone.runs) expect(beside.runs.get(name)).toEqual(run);
  for (const { name, metrics } of alone.result.arms)
    expect(beside.result.arms.find((arm) => arm.name === name)?.metrics).toEqual(metrics);
});
