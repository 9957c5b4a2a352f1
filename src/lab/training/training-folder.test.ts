import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UnavailableError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { PartialFolder } from '../run/partial-folder.ts';
import { runFiles } from '../run/run-folder.ts';
import { readRunSummary } from '../stored/run-summary.ts';
import { writeSampleTraining } from './training-config.fixture.ts';
import { loadTrainingConfig } from './training-config.ts';
import { writeTrainingFolder } from './training-folder.ts';
import { type FinishedTraining, runTraining } from './training-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-training-folder-'));
afterAll(() => rmSync(root, { recursive: true }));
const results = join(root, 'results');
let finished: FinishedTraining;
let target: string;

beforeAll(async () => {
  const backend = await useBackend('cpu');
  const config = loadTrainingConfig(writeSampleTraining(root), ['importance=false', 'evaluation.resamples=0']);
  finished = await runTraining(config, { backend, cacheFolder: join(root, 'cache'), command: 'ragpp train sample' });
  target = join(results, `sample-training-${finished.result.hash}`);
});

test('a folder is there as a whole, with what was rendered', () => {
  expect(writeTrainingFolder(results, finished, { ...runFiles(finished), 'table.md': 'a table' })).toBe(target);
  expect(readdirSync(results)).toEqual([`sample-training-${finished.result.hash}`]);
  const names = [...Object.keys(runFiles(finished)), 'weights-linear.safetensors', 'table.md'];
  for (const name of names) expect(existsSync(join(target, name)), name).toBe(true);
  expect(readFileSync(join(target, 'table.md'), 'utf8')).toBe('a table');
});

test('its small files are read as those of a run', () => {
  const { experiment, arms, baseline, queries } = readRunSummary(target);
  expect([experiment, baseline, queries]).toEqual(['sample-training', 'hand-tuned', finished.result.queries.length]);
  expect(arms.map(({ name }) => name)).toEqual([...finished.runs.keys()]);
});

test('its config is one that trains the same again', () => {
  expect(loadTrainingConfig(join(target, 'config.yaml'))).toEqual(finished.result.config);
});

test('nothing is left half done while another writes it', () => {
  const held = PartialFolder.open(target, 'fresh');
  expect(() => writeTrainingFolder(results, finished, {})).toThrow(UnavailableError);
  held.remove();
  expect(readFileSync(join(target, 'table.md'), 'utf8')).toBe('a table');
  expect(readdirSync(results)).toEqual([`sample-training-${finished.result.hash}`]);
});
