import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { merge, type Plain } from '../composition/config-file.ts';
import { least } from './config.fixture.ts';
import { buildConfigJsonSchema } from './config-json-schema.ts';
import { listMisfits, listRules, listStrangeKeywords, type Schema } from './json-schema.harness.ts';

const schema = buildConfigJsonSchema() as Schema;
const configs = fileURLToPath(new URL('../../../configs', import.meta.url));

test('there are configs and groups to check', () => {
  expect(files).toEqual(expect.arrayContaining(['quickstart.yaml', 'groups/dataset/mail.yaml']));
});

test('the schema uses no keyword that this check leaves out', () => {
  expect(listStrangeKeywords(schema)).toEqual([]);
});

/** Configs of trainings have a schema of their own. */
const files = readdirSync(configs, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.yaml') && !file.startsWith('learning'),
);

test.each(files)('configs/%s fits', (file) => {
  expect(listMisfits(parse(readFileSync(join(configs, file), 'utf8')), schema)).toEqual([]);
});

test('weight files fit where they are read, and presets where there are some', () => {
  const file = 'mix.safetensors';
  const base = { trajectory: { weights: file }, scoring: { weights: file } };
  const fusion = { method: 'weighted', weights: 'balanced' };
  expect(listMisfits({ scoring: { weights: file }, base }, schema)).toEqual([]);
  expect(listMisfits({ base: { relevance: { signals: ['bm25', 'cosine'], fusion } } }, schema)).toEqual([]);
});

describe('what does not fit', () => {
  test.each<[Plain, string]>([
    [{ sede: 1 }, '.sede'],
    [{ name: 'A b' }, '.name'],
    [{ seed: 0.5 }, '.seed'],
    [{ backend: 'gpu' }, '.backend'],
    [{ evaluation: { samples: 1 } }, '.evaluation.samples'],
    [{ evaluation: { smaples: 100 } }, '.evaluation.smaples'],
    [{ embedding: { encoder: 'lsi' } }, '.embedding.encoder'],
    [{ embedding: { encoder: 'lsa', efSearch: 3 } }, '.embedding.efSearch'],
    [{ base: { decay: { halfLifeHours: -1 } } }, '.base.decay.halfLifeHours'],
    [{ arms: [{ extends: 'plain' }] }, '.arms[0].name'],
    [{ arms: [{ name: 'x', decay: { halfLife: 3 } }] }, '.arms[0].decay.halfLife'],
    [{ arms: [{ name: 'x', candidates: [{ index: 'hnsw', k1: 1 }] }] }, '.arms[0].candidates[0].k1'],
    [{ seeds: 101 }, '.seeds'],
    ...['rrf', 'wsum', 'wmnz', 'w_bordafuse', 'pool-rrf', 'weighted'].map((method): [Plain, string] => [
      { base: { relevance: { signals: ['bm25', 'cosine'], fusion: { method, weights: 'mix.safetensors' } } } },
      '.base.relevance.fusion.weights',
    ]),
  ])('%j', (change, path) => {
    expect(listMisfits(least, schema)).toEqual([]);
    expect(listMisfits(merge(least, change), schema)).toContain(path);
  });
});

test.each<Plain>([
  { arms: [{ name: 'theirs', run: 'theirs.trec' }] },
  { arms: [{ name: 'theirs', run: { file: 'theirs.trec', k: 100 } }] },
  { base: { run: 'theirs.trec' }, arms: [{ name: 'ours', run: null }] },
  { datasets: { mail: { name: 'spamassassin-threads' }, own: { name: 'jsonl', path: 'data' } } },
])('%j fits', (change) => {
  expect(listMisfits(merge(least, change), schema)).toEqual([]);
});

describe('what an editor shows of a key', () => {
  const rules = listRules(schema);
  const describeKey = (path: string, value?: string) =>
    rules.find(([at, { const: name }]) => at === path && (value === undefined || name === value))?.[1].description;

  test('every key has a description, without links', () => {
    expect(rules.length).toBeGreaterThan(500);
    const missing = rules.filter(([, { description }]) => typeof description !== 'string' || description === '');
    expect(missing.map(([path]) => path)).toEqual([]);
    expect(rules.filter(([, { description }]) => /\]\(|#/.test(description as string))).toEqual([]);
  });

  test('is the meaning in the reference, wherever the key is', () => {
    expect(describeKey('.seed')).toBe('feeds every random stream: the SVD, hnsw, resampling');
    expect(describeKey('.sweep')).toBe('generates arms');
    expect(describeKey('.sweep.method', 'grid')).toBe('every combination of levels');
    for (const start of ['.arms', '.base']) {
      expect(describeKey(`${start}.candidates.efSearch`)).toMatch(/^candidates considered when a query is answered/);
      expect(describeKey(`${start}.relevance.fusion.method`, 'rrf')).toMatch(/^reciprocal rank fusion/);
    }
    for (const start of ['.embedding', '.arms.embedding', '.base.embedding'])
      expect(describeKey(`${start}.oversampling`)).toBe(
        'additional random directions, for exact last singular vectors',
      );
    for (const start of ['.dataset', '.datasets'])
      expect(describeKey(`${start}.name`, 'irc')).toMatch(/^a busy IRC channel: a message must find/);
  });

  test('defaults and choices are in the schema', () => {
    const find = (path: string) => rules.find(([at]) => at === path)?.[1];
    expect(find('.evaluation.test')).toMatchObject({ default: 'permutation', enum: ['permutation', 't', 'wilcoxon'] });
    expect(find('.arms.run.k')).toMatchObject({ default: 1000, minimum: 1 });
    expect(find('.tuning.metric')).toMatchObject({ default: 'mrr@10' });
  });
});
