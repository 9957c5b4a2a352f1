import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { loadDataset } from '../datasets/registry.ts';
import { least, plain } from '../experiment/config/config.fixture.ts';
import { loadConfig } from '../experiment/config/config.ts';
import { captureEnvironment, restoreDataFolder } from '../experiment/run/environment.ts';
import { writeSampleJsonl } from '../experiment/run/jsonl.fixture.ts';
import { createLinearModel } from '../learning/linear-model.ts';
import { writeWeights } from '../learning/weight-file.ts';
import { loadTrainingConfig } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-paths-'));
afterAll(() => rmSync(root, { recursive: true }));
const project = join(root, 'project');
const config = join(project, 'configs', 'own.yaml');
const write = (path: string, content: object) => writeFileSync(path, JSON.stringify(content));

/** A mix of one signal with its own number, so that it shows which file was read. */
function writeMix(path: string, number: number): void {
  const standardisation = { means: Float64Array.of(0), deviations: Float64Array.of(1) };
  const model = createLinearModel({ signals: ['bm25'], nonNegative: [], initial: {} }, standardisation);
  const stored = { signals: { groups: ['text'], encoders: [] }, embedding: least.embedding };
  const provenance = {
    config: stored,
    dataHash: 'a',
    seeds: [1],
    commit: 'b',
    backend: 'cpu',
    trainingClusters: ['c0'],
  };
  writeWeights(path, { model, values: Float64Array.of(number), provenance });
}

beforeAll(() => {
  for (const folder of ['configs', 'data', 'weights', 'other/deep'])
    mkdirSync(join(project, folder), { recursive: true });
  writeSampleJsonl(join(project, 'data'));
  writeMix(join(project, 'weights', 'mix.safetensors'), 3);
  writeMix(join(project, 'other', 'mix.safetensors'), 5);
  const scored = { ...plain, name: 'scored', scoring: {} };
  write(config, {
    ...least,
    dataset: { name: 'jsonl', path: '../data' },
    scoring: { weights: '../weights/mix.safetensors' },
    arms: [plain, scored],
  });
  // A file that takes everything over, and whose own arm names a file that lies elsewhere.
  const own = { ...scored, name: 'own', scoring: { weights: '../mix.safetensors' } };
  const heir = { name: 'heir', extends: 'own' };
  write(join(project, 'other', 'deep', 'further.yaml'), { extends: '../../configs/own.yaml', arms: [own, heir] });
});

const listArmNumbers = (path: string, ...overrides: string[]) =>
  loadConfig(path, overrides).arms.map(({ name, scoring }) => [name, scoring?.weights.bm25]);
const load = (path: string, ...overrides: string[]) =>
  loadDataset(loadConfig(path, overrides).dataset, { cacheFolder: null });

test('data and weights are found relative to the file that names them, also where another file extends it', async () => {
  expect(listArmNumbers(config)).toEqual([
    ['plain', undefined],
    ['scored', 3],
  ]);
  const further = join(project, 'other', 'deep', 'further.yaml');
  expect(listArmNumbers(further)).toEqual([
    ['plain', undefined],
    ['scored', 3],
    ['own', 5],
    ['heir', 5],
  ]);
  const { hash } = await load(config);
  expect((await load(further)).hash).toBe(hash);
});

test('what an override names is relative to the working directory', async () => {
  const here = relative(process.cwd(), project);
  const weights = `scoring.weights=${join(here, 'other', 'mix.safetensors')}`;
  expect(listArmNumbers(config, weights).at(-1)).toEqual(['scored', 5]);
  expect((await load(config, `dataset.path=${join(here, 'data')}`)).corpus.size).toBeGreaterThan(50);
  await expect(load(config, 'dataset.path=../data')).rejects.toThrow(/cannot read.*ENOENT/);
});

test('data that is nowhere is an error that names both places', async () => {
  const path = join(project, 'configs', 'no-data.yaml');
  write(path, { extends: 'own.yaml', dataset: { path: 'nowhere' } });
  await expect(load(path)).rejects.toThrow(
    `data of the config is not available: no file or folder at nowhere, neither in ${join(project, 'configs')} nor in the working directory; set its path`,
  );
});

test('an error about a missing weight file names both places', () => {
  const text = 'scoring: {weights: nowhere.safetensors}';
  const path = join(project, 'configs', 'lost.yaml');
  writeFileSync(path, `extends: own.yaml\n${text}\n`);
  expect(() => loadConfig(path)).toThrow(
    `a weight file, relative to ${join(project, 'configs')} or to the working directory (cannot read`,
  );
});

test('the resolved config is the same wherever the files lie', () => {
  const moved = join(root, 'moved');
  cpSync(project, moved, { recursive: true });
  const there = loadConfig(join(moved, 'configs', 'own.yaml'));
  expect(JSON.stringify(there)).toBe(JSON.stringify(loadConfig(config)));
  expect(there.dataset).toEqual({ name: 'jsonl', path: '../data', onDirtyRow: 'error', relevantGrade: 1 });
  expect(there.arms[1]?.scoring?.origin?.file).toBe('../weights/mix.safetensors');
});

test('a run notes where its data was, so that other processes find it', async () => {
  const { dataset } = loadConfig(config);
  await useBackend('cpu');
  const environment = captureEnvironment('cpu', 1, 'ragpp run', dataset);
  expect(environment.dataFolder).toBe(relative(process.cwd(), join(project, 'configs')));
  const run = join(root, 'run');
  mkdirSync(run);
  write(join(run, 'environment.json'), environment);
  const frozen = { ...dataset };
  await expect(loadDataset(frozen, { cacheFolder: null })).rejects.toThrow(/ENOENT/);
  restoreDataFolder(frozen, run);
  expect((await loadDataset(frozen, { cacheFolder: null })).corpus.size).toBeGreaterThan(50);
  writeFileSync(join(run, 'environment.json'), '{"dataFol');
  expect(() => restoreDataFolder(frozen, run)).toThrow(
    `damaged file ${join(run, 'environment.json')}: it is not JSON; restore it, or run the config again`,
  );
  const absolute = loadConfig(config, [`dataset.path=${join(project, 'data')}`]).dataset;
  expect(captureEnvironment('cpu', 1, 'ragpp run', absolute)).not.toHaveProperty('dataFolder');
});

test('a training finds its data, and the data that it transfers to, in the same way', async () => {
  const path = join(project, 'configs', 'training.yaml');
  const dataset = { name: 'jsonl', path: '../data' };
  const transfer = [{ name: 'again', dataset }];
  write(path, { name: 'training', dataset, embedding: least.embedding, candidates: plain.candidates, transfer });
  const training = loadTrainingConfig(path);
  for (const options of [training.dataset, training.transfer[0]!.dataset])
    expect((await loadDataset(options, { cacheFolder: null })).corpus.size).toBeGreaterThan(50);
});
