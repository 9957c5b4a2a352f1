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

test('weight files and policies fit where they are read', () => {
  const file = 'mix.safetensors';
  const steps = [{ search: { bm25: {} } }, { slice: { policy: 'near.yaml' } }];
  for (const mix of [file, { weights: file }, { weights: { bm25: 1 } }])
    expect(listMisfits({ arms: { a: [...steps, { mix }] } }, schema)).toEqual([]);
  const blends = [{ blend: { trajectory: { weights: file } } }, { score: { strategy: { users: 'users.json' } } }];
  expect(listMisfits({ arms: { a: blends } }, schema)).toEqual([]);
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
    [{ arms: { x: { form: 'plain' } } }, '.arms.x.form'],
    [{ arms: { x: [{ dceay: 3 }] } }, '.arms.x[0].dceay'],
    [{ arms: { x: [{ decay: -1 }] } }, '.arms.x[0].decay'],
    [{ arms: { x: [{ decay: { halfLife: 3 } }] } }, '.arms.x[0].decay.halfLife'],
    [
      { arms: { x: { from: 'plain', then: [{ decay: { halfLifeHours: -1 } }] } } },
      '.arms.x.then[0].decay.halfLifeHours',
    ],
    [{ arms: { x: { from: 'plain', tune: { 'decay.halfLifeHours': [] } } } }, '.arms.x.tune.decay.halfLifeHours'],
    [{ arms: { x: { steps: [{ search: { hnsw: { k1: 1 } } }] } } }, '.arms.x.steps[0].search.hnsw.k1'],
    [{ arms: { x: [{ 'search+': { words: { index: 'hnsw', k1: 1 } } }] } }, '.arms.x[0].search+.words.k1'],
    [{ arms: { x: [{ search: { run: { pth: 'a.trec' } } }] } }, '.arms.x[0].search.run.pth'],
    [{ arms: { x: [{ fuse: 'rff' }] } }, '.arms.x[0].fuse'],
    [{ arms: { x: [{ fuse: { rff: {} } }] } }, '.arms.x[0].fuse.rff'],
    [{ arms: { x: [{ fuse: { rrf: { bm25: -1 } } }] } }, '.arms.x[0].fuse.rrf.bm25'],
    [{ arms: { x: [{ fuse: { convex: { bm25: 'rset' } } }] } }, '.arms.x[0].fuse.convex.bm25'],
    [{ arms: { x: [{ blend: { rcp: { wieght: 0.1 } } }] } }, '.arms.x[0].blend.rcp.wieght'],
    [{ arms: { x: [{ blend: { trajectory: 1.5 } }] } }, '.arms.x[0].blend.trajectory'],
    [{ arms: { x: [{ select: { mmr: { lambda: 2 } } }] } }, '.arms.x[0].select.mmr.lambda'],
    [{ arms: { x: [{ select: { mentions: {} } }] } }, '.arms.x[0].select.mentions'],
    [{ arms: { x: [{ mix: { weights: 3 } }] } }, '.arms.x[0].mix.weights'],
    [{ arms: { x: [{ propagate: 'publised' }] } }, '.arms.x[0].propagate'],
    [{ arms: { x: [{ boost: [{ atribute: 'a' }] }] } }, '.arms.x[0].boost[0].atribute'],
    [{ seeds: 101 }, '.seeds'],
  ])('%j', (change, path) => {
    expect(listMisfits(least, schema)).toEqual([]);
    expect(listMisfits(merge(least, change), schema)).toContain(path);
  });
});

test.each<Plain>([
  { arms: { theirs: [{ search: { run: { file: 'theirs.trec' } } }] } },
  { arms: { theirs: [{ search: { theirs: { index: 'run', file: 'theirs.trec', k: 100 } } }] } },
  { arms: { later: { from: 'plain', set: { 'bm25.k': 5, decay: null }, tune: { 'bm25.b': [0.1] } } } },
  {
    arms: {
      other: { from: 'plain', then: [{ 'search+': { hnsw: {} } }, { fuse: { convex: { hnsw: 0.3, bm25: 'rest' } } }] },
    },
  },
  { arms: { other: [{ search: { bm25: {}, flat: {} } }, { fuse: { only: 'bm25' } }, 'curate', { select: 'mmr' }] } },
  { arms: { joined: { set: { 'bm25.k': 5 } } } },
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
    for (const search of ['.arms.search', '.arms.search+', '.arms.steps.search', '.arms.then.search']) {
      expect(describeKey(`${search}.hnsw.efSearch`)).toMatch(/^candidates considered when a query is answered/);
      expect(describeKey(`${search}.efSearch`)).toMatch(/^candidates considered when a query is answered/);
      expect(describeKey(`${search}.bm25`)).toEqual(describeKey(`${search}.index`, 'bm25'));
    }
    expect(describeKey('.arms.fuse.rrf')).toMatch(/^reciprocal rank fusion/);
    expect(describeKey('.arms.then.fuse.rrf')).toMatch(/^reciprocal rank fusion/);
    expect(describeKey('.arms.blend.tpo.coordinates.sigma')).toBe(describeKey('.arms.blend.trajectory.sigma'));
    for (const start of ['.embedding', '.arms.embedding'])
      expect(describeKey(`${start}.oversampling`)).toBe(
        'additional random directions, for exact last singular vectors',
      );
    for (const start of ['.dataset', '.datasets'])
      expect(describeKey(`${start}.name`, 'irc')).toMatch(/^a busy IRC channel: a message must find/);
  });

  test('defaults and choices are in the schema', () => {
    const find = (path: string) => rules.find(([at]) => at === path)?.[1];
    expect(find('.evaluation.test')).toMatchObject({ default: 'permutation', enum: ['permutation', 't', 'wilcoxon'] });
    expect(find('.arms.search.run.k')).toMatchObject({ default: 1000, minimum: 1 });
    expect(find('.arms.search.bm25.k')).toMatchObject({ default: 100, minimum: 1 });
    expect(find('.arms.fuse.rrf.k')).toMatchObject({ default: 60 });
    expect(find('.tuning.metric')).toMatchObject({ default: 'mrr@10' });
  });
});
