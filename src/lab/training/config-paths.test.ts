import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import { createEncoder, createEncoderSource } from '../../index/encoders/registry.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import { writeWeights } from '../../rank/learning/weight-file.ts';
import type { ScoringOptions } from '../../rank/signals/bank/options.ts';
import { findFittedArm } from '../config/arm-selection.ts';
import { least } from '../config/config.fixture.ts';
import { loadConfig } from '../config/config.ts';
import { captureEnvironment, restoreDataFolder, runHash } from '../run/environment.ts';
import { writeSampleJsonl } from '../run/jsonl.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-paths-'));
afterAll(() => rmSync(root, { recursive: true }));
const project = join(root, 'project');
const config = join(project, 'configs', 'own.yaml');
const words = [{ search: { bm25: {} } }];
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
  const mixWith = (file: string) => ({ steps: [...words, { mix: file }] });
  write(config, {
    ...least,
    dataset: { name: 'jsonl', path: '../data' },
    arms: { plain: words, scored: mixWith('../weights/mix.safetensors') },
  });
  // A file that takes everything over, and whose own arm names a file that lies elsewhere.
  const arms = { own: mixWith('../mix.safetensors'), heir: { from: 'own' } };
  write(join(project, 'other', 'deep', 'further.yaml'), { extends: '../../configs/own.yaml', arms });
});

const readMix = (arm: object) => (arm as { mix?: ScoringOptions }).mix;
const listArmNumbers = (path: string, ...overrides: string[]) =>
  loadConfig(path, overrides).arms.map((arm) => [arm.name, readMix(arm)?.weights.bm25]);
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
  const weights = `arms.scored.set.mix=${join(here, 'other', 'mix.safetensors')}`;
  expect(listArmNumbers(config, weights).at(-1)).toEqual(['scored', 5]);
  expect((await load(config, `dataset.path=${join(here, 'data')}`)).corpus.size).toBeGreaterThan(50);
  await expect(load(config, 'dataset.path=../data')).rejects.toThrow(/cannot read \(no turns\.jsonl, .*: \.\.\/data;/);
});

test('data that is nowhere is an error that names both places', async () => {
  const path = join(project, 'configs', 'no-data.yaml');
  write(path, { extends: 'own.yaml', dataset: { path: 'nowhere' } });
  await expect(load(path)).rejects.toThrow(
    `data of the config is not available: no file or folder at nowhere, neither in ${join(project, 'configs')} nor in the working directory; set its path`,
  );
});

test('an error about a missing weight file names both places', () => {
  const text = 'arms: {scored: {set: {mix: nowhere.safetensors}}}';
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
  expect(readMix(there.arms[1]!)?.origin?.file).toBe('../weights/mix.safetensors');
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
  await expect(loadDataset(frozen, { cacheFolder: null })).rejects.toThrow(/no turns\.jsonl/);
  restoreDataFolder(frozen, run);
  expect((await loadDataset(frozen, { cacheFolder: null })).corpus.size).toBeGreaterThan(50);
  writeFileSync(join(run, 'environment.json'), '{"dataFol');
  expect(() => restoreDataFolder(frozen, run)).toThrow(
    `damaged file ${join(run, 'environment.json')}: it is not JSON; restore it, or run the config again`,
  );
  const absolute = loadConfig(config, [`dataset.path=${join(project, 'data')}`]).dataset;
  expect(captureEnvironment('cpu', 1, 'ragpp run', absolute)).not.toHaveProperty('dataFolder');
});

test('a fit finds its data, and the data that it transfers to, in the same way', async () => {
  const path = join(project, 'configs', 'training.yaml');
  const dataset = { name: 'jsonl', path: '../data' };
  const transfer = [{ name: 'again', dataset }];
  const learned = [...words, { mix: { fit: { transfer } } }];
  write(path, { name: 'training', dataset, embedding: least.embedding, arms: { learned } });
  const fit = loadConfig(path);
  for (const options of [fit.dataset, findFittedArm(fit)!.mix.fit.transfer[0]!.dataset])
    expect((await loadDataset(options, { cacheFolder: null })).corpus.size).toBeGreaterThan(50);
});

/** Vectors of two turns. */
function writeVectors(path: string, ...data: [number, number]): string {
  const metadata = { ids: '["t1","t2"]' };
  writeSafetensors(path, { tensors: { vectors: { shape: [2, 1], data: Float32Array.from(data) } }, metadata });
  return path;
}

describe('files of an encoder', () => {
  const path = join(project, 'other', 'vectors.yaml');
  const [shared, own] = ['other', 'configs'].map((folder) => join(project, folder, 'turns.safetensors'));
  const embed = (turns: string) => ({ encoder: 'precomputed', turns });

  beforeAll(() => {
    for (const file of [shared, own]) writeVectors(file as string, 1, file === own ? 2 : 3);
    mkdirSync(join(project, 'other', 'model'));
    write(join(project, 'other', 'model', 'config.json'), {});
    write(join(project, 'configs', 'base.yaml'), {
      ...least,
      dataset: { name: 'jsonl', path: '../data' },
      embedding: embed('../other/turns.safetensors'),
      arms: { plain: words, own: { steps: words, embedding: embed('turns.safetensors') } },
    });
    write(path, { extends: '../configs/base.yaml', embedding: embed('turns.safetensors') });
  });

  test('are found relative to the file that names them, also where another file extends it', () => {
    const { embedding, arms } = loadConfig(path);
    expect([embedding, arms[1]?.embedding]).toMatchObject([{ turns: shared }, { turns: own }]);
    const training = join(project, 'other', 'other.yaml');
    const dataset = { name: 'jsonl', path: '../data' };
    const raw = { ...least, dataset, arms: { plain: words } };
    const model = { encoder: 'transformers', model: 'model' };
    write(training, { ...raw, embedding: model });
    expect(loadConfig(training).embedding).toMatchObject({ model: join(project, 'other', 'model') });
    write(training, { ...raw, embedding: { ...model, model: 'owner/name' } });
    expect(loadConfig(training).embedding).toMatchObject({ model: 'owner/name' });
  });

  test('that an override names are relative to the working directory', () => {
    const here = relative(process.cwd(), own as string);
    expect(loadConfig(path, [`embedding.turns=${here}`]).embedding).toMatchObject({ turns: here });
  });

  test('that are nowhere are an error that names both places', () => {
    const { embedding } = loadConfig(path);
    write(join(project, 'configs', 'lost.yaml'), {
      extends: 'base.yaml',
      embedding: { queries: 'none.npy' },
      arms: { own: { embedding: { turns: 'lost.npy' } } },
    });
    const lost = loadConfig(join(project, 'configs', 'lost.yaml'));
    const inputs = { fitTexts: [], seed: 1 };
    const places = `neither in ${join(project, 'configs')} nor in the working directory`;
    expect(() => createEncoderSource(lost.embedding, inputs)).toThrow(
      `queries of the embedding is not available: no file or folder at none.npy, ${places}; set embedding.queries`,
    );
    expect(() => createEncoderSource(lost.arms[1]!.embedding!, inputs)).toThrow(`at lost.npy, ${places}`);
    write(join(project, 'configs', 'lost.yaml'), {
      extends: 'base.yaml',
      embedding: { encoder: 'transformers', model: './none' },
    });
    const { embedding: model } = loadConfig(join(project, 'configs', 'lost.yaml'));
    expect(() => createEncoderSource(model, inputs)).toThrow(`no file or folder at ./none, ${places}`);
    expect(() => createEncoderSource(embedding, inputs)).not.toThrow();
  });

  test('count by their content: other vectors at the same path are another run', async () => {
    const before = loadConfig(path);
    expect(loadConfig(path)).toEqual(before);
    writeVectors(shared as string, 5, 7);
    const after = loadConfig(path);
    expect(runHash(after, 'data', 'wasm')).not.toBe(runHash(before, 'data', 'wasm'));
    await expect(createEncoder(before.embedding, { fitTexts: [], seed: 1 })).rejects.toThrow(
      `files of the encoder have changed since the config was resolved: ${shared}; restore them, or remove hash from the config`,
    );
    await expect(createEncoder(after.embedding, { fitTexts: [], seed: 1 })).resolves.toHaveProperty('dimension', 1);
  });
});
