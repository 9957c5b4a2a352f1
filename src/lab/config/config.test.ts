import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import type { Plain } from '../composition/config-file.ts';
import { least, listResolveFaults, plain } from './config.fixture.ts';
import { loadConfig, resolveConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('what a config need not say is filled in', () => {
  const config = resolveConfig(least, 'test.yaml');
  expect(config).toMatchObject({
    seed: 1,
    backend: 'auto',
    description: '',
    tuning: { metric: 'mrr@10', holdout: 0.3 },
  });
  expect(config.evaluation).toEqual({
    split: 'test',
    limitQueries: null,
    share: 1,
    metrics: ['mrr@10', 'recall@10', 'ndcg@10', 'recall@1'],
    baseline: 'plain',
    test: 'permutation',
    correction: 'holm',
    samples: 10_000,
    level: 0.95,
    depth: 100,
    inspect: 10,
    attributionDepth: 10,
    race: null,
    latency: null,
  });
  expect(config.arms[0]).toMatchObject({ name: 'plain', steps: ['search'], tune: {}, control: null, levels: null });
  expect(config).toMatchObject({ sweep: null, only: null });
  // What is resolved resolves to itself: config.yaml of a run folder can be run again.
  expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
});

describe('one error is reported for', () => {
  const buildArms = (more: object) => ({ arms: { plain, ...more } });
  const tuning = (tune: object) => buildArms({ x: { from: 'plain', then: [{ decay: {} }], tune } });
  const buildEvaluation = (more: object) => ({ evaluation: { baseline: 'plain', ...more } });
  test.each([
    ['an unknown key', { sede: 3 }, /^sede: expected one of name, .*, got unknown key "sede"; seed\?$/],
    ['a wrong type', { name: 7 }, /^name: expected string, got 7$/],
    [
      'a list of seeds',
      { seed: [1, 2] },
      /^seed: expected one whole number; for several seeds write their count, as seeds: 5, got \[1,2\]$/,
    ],
    [
      'a name that is no slug',
      { name: 'My run' },
      /^name: expected lower-case letters, digits and hyphens, got "My run"$/,
    ],
    [
      'an encoder that is none',
      { embedding: { encoder: 'lsi' } },
      /^embedding\.encoder: expected .*, got "lsi"; lsa\?$/,
    ],
    [
      'a baseline that is no arm',
      buildEvaluation({ baseline: 'plane' }),
      /^evaluation\.baseline: expected an arm \(plain\), got "plane"; plain\?$/,
    ],
    [
      'a metric that is none',
      buildEvaluation({ metrics: ['reacll@10'] }),
      /^evaluation\.metrics\[0\]: expected a metric \(unknown metric: reacll@10; use recall@10\), got "reacll@10"$/,
    ],
    [
      'a metric that is a sum',
      buildEvaluation({ metrics: ['mrr@10', 'num_rel_ret'] }),
      /^evaluation\.metrics\[1\]: expected a metric \(metric is a sum over the queries, not a mean: num_rel_ret; use recall@k\), got "num_rel_ret"$/,
    ],
    [
      'a metric to tune by that is a sum',
      { tuning: { metric: 'num_rel_ret' } },
      /^tuning\.metric: expected a metric \(metric is a sum over the queries, not a mean: num_rel_ret; use recall@k\), got "num_rel_ret"$/,
    ],
    [
      'a metric deeper than a ranking',
      buildEvaluation({ metrics: ['mrr@10', 'recall@200'] }),
      /^evaluation\.depth: expected as many places as recall@200 looks at, got nothing$/,
    ],
    ['no arm', { arms: {}, evaluation: { baseline: 'x' } }, /^arms: expected array >= 1, got \[\]$/],
    [
      'an arm by the name of another',
      buildArms({ 'Plain!': plain }),
      /^arms\.Plain!: expected a name that no arm before it has, got "plain"$/,
    ],
    [
      'an arm without a letter',
      buildArms({ '+ +': plain }),
      /^arms\.\+ \+: expected a name with a letter or digit, got "\+ \+"$/,
    ],
    [
      'an arm that starts from a later one',
      buildArms({ x: { from: 'y' }, y: plain }),
      /^arms\.x\.from: expected an arm before it \(plain\), got "y"$/,
    ],
    [
      'an option that is taken over',
      buildArms({ w: [...plain, { decay: { halfLifeHours: -1 } }], x: { from: 'w' }, y: { from: 'x' } }),
      /^arms\.w\[1\]\.decay\.halfLifeHours: expected number > 0, got -1$/,
    ],
    [
      'an option in a short form',
      buildArms({ w: [...plain, { decay: -1 }] }),
      /^arms\.w\[1\]\.decay: expected number > 0, got -1$/,
    ],
    [
      'an option of a source in a step that adds to the search',
      buildArms({ w: { from: 'plain', then: [{ 'search+': { hnsw: { efSaerch: 3 } } }, { fuse: 'pool-rrf' }] } }),
      /^arms\.w\.then\[0\]\.search\+\.hnsw\.efSaerch: expected one of .*, got unknown key "efSaerch"; efSearch\?$/,
    ],
    [
      'a source that is none',
      buildArms({ w: [{ search: { bm52: {} } }] }),
      /^arms\.w\[0\]\.search\.bm52\.index: expected .*, got "bm52"; bm25\?$/,
    ],
    [
      'a column that an arm took over and now lacks',
      buildArms({
        x: [{ search: { bm25: {}, hnsw: {} } }, { fuse: { rrf: { bm25: 1, hnsw: 1 } } }],
        y: { from: 'x', set: { hnsw: null } },
        z: { from: 'y' },
      }),
      /^arms\.y\.fuse\.rrf\.hnsw: expected a column of the arm \(bm25\), got 1$/,
    ],
    [
      'a fusion that is missing',
      buildArms({ x: [{ search: { bm25: {}, hnsw: {} } }], y: { from: 'x' }, z: { from: 'y' } }),
      /^arms\.x: expected a step fuse or mix, since there are 2 columns: bm25, hnsw, got \["search"\]$/,
    ],
    [
      'steps in a wrong order',
      buildArms({ x: [{ search: { bm25: {} } }, { select: 'mmr' }, { decay: 3 }] }),
      /^arms\.x\[2\]\.decay: expected after a step that gives scores, not after select, which gives ranking, got /,
    ],
    [
      'a tuned path that leads nowhere',
      tuning({ 'hnsw.k': [1, 2] }),
      /^arms\.x\.tune\.hnsw\.k: expected a path that begins with a step or a source of the arm \(search, decay, bm25\), got "hnsw\.k"$/,
    ],
    [
      'tuning what is no option',
      tuning({ name: ['p', 'q'] }),
      /^arms\.x\.tune\.name: expected a path that begins with a step or a source of the arm \(search, decay, bm25\), got "name"$/,
    ],
    [
      'a tuned path that is misspelt',
      tuning({ 'decay.halfLifeHour': [1, 2] }),
      /^arms\.x\.tune\.decay\.halfLifeHour: expected one of halfLifeHours, got unknown key "halfLifeHour"; halfLifeHours\?$/,
    ],
    [
      'a tuned value out of range',
      tuning({ 'decay.halfLifeHours': [1, 0], 'bm25.b': [0.1, 0.2] }),
      /^arms\.x\.tune\.decay\.halfLifeHours\[1\]: expected number > 0, got 0$/,
    ],
    [
      'a tuned value of a source out of range',
      tuning({ 'bm25.b': [0.1, 2] }),
      /^arms\.x\.tune\.bm25\.b\[1\]: expected number <= 1, got 2$/,
    ],
    [
      'nothing to try',
      tuning({ 'decay.halfLifeHours': [] }),
      /^arms\.x\.tune\.decay\.halfLifeHours: expected array >= 1, got \[\]$/,
    ],
  ])('%s', (_, config, fault) => {
    const faults = listResolveFaults(config);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });
});

test('all errors are reported at once', () => {
  const faults = listResolveFaults({
    bogus: 1,
    dataset: { name: 'spamassassin-thread' },
    evaluation: { baseline: 'plan', metrics: ['mrr@10', 'ndcg@0'] },
    arms: {
      plain: { steps: plain, tune: { nonsense: [1] } },
      x: { from: 'nobody', then: [{ dceay: 'long' }] },
      y: [...plain, { decay: 'long' }, { blend: { trajectory: 7 } }],
      'Plain?': plain,
    },
  });
  expect(faults.map((fault) => fault.slice(0, fault.indexOf(':'))).sort()).toEqual([
    'arms.Plain?',
    'arms.plain.tune.nonsense',
    'arms.x.from',
    'arms.x.then[0].dceay',
    'arms.y[1].decay',
    'arms.y[2].blend.trajectory',
    'bogus',
    'dataset.name',
    'evaluation.baseline',
    'evaluation.metrics[1]',
  ]);
});

test('references to files are an error without a file', () => {
  expect(listResolveFaults({ groups: { dataset: 'mail' }, extends: 'x.yaml' })).toEqual([
    'extends: expected nothing, outside of a file, got "x.yaml"',
    'groups: expected nothing, outside of a file, got {"dataset":"mail"}',
  ]);
});

test('a list of arms, and keys at the top that arms have, are answered with what says the same', () => {
  const words = { name: 'words', candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } };
  expect(listResolveFaults({ arms: [words], evaluation: { baseline: 'words' } })).toEqual([
    'arms: expected a mapping of arms by name, as in arms: { words: [search: { bm25: {} }] }, got a list',
  ]);
  expect(listResolveFaults({ base: {}, scoring: { weights: 'mix.safetensors' } })).toEqual([
    'base: expected an arm, and from: its name in those that start from it, got the key "base"',
    'scoring: expected mix, as in mix: weights.safetensors, got the key "scoring"',
  ]);
});

test('a long list of arms is cut where a name is not among them', () => {
  const arms = Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`arm ${i}`, plain]));
  const [fault] = listResolveFaults({ arms, evaluation: { baseline: 'x' }, only: ['arm 7'] });
  expect(fault).toMatch(/expected an arm \(arm 0, .*, arm 19 and 3 more\), got "x"$/);
  expect(listResolveFaults({ only: ['plane'] })).toEqual(['only[0]: expected an arm (plain), got "plane"; plain?']);
});

describe('a file', () => {
  test('is read, and overridden from outside', () => {
    const path = join(folder, 'least.yaml');
    writeFileSync(path, JSON.stringify(least)); // JSON is YAML
    const config = loadConfig(path, [
      'seed=7',
      'arms.x={ from: plain, then: [decay: {}] }',
      'arms.plain.set.bm25.k=7',
      'evaluation.metrics=[map]',
    ]);
    expect(config.seed).toBe(7);
    expect(config.arms[1]).toMatchObject({ decay: { halfLifeHours: 24 }, search: { bm25: { k: 7 } } });
    expect(config.evaluation.metrics).toEqual(['map']);
  });

  test.each([
    ['that is not there', 'none.yaml', null, /\(file\): expected a YAML file, got ENOENT/],
    ['that is a folder', '', null, /\(file\): expected a YAML file, got EISDIR/],
    ['with a syntax fault', 'broken.yaml', 'name: x\narms:\n  - {name: y\n', /line 4, column 1: expected valid YAML/],
    [
      'with a key twice',
      'twice.yaml',
      'name: x\nname: y\n',
      /line 2, column 1: expected valid YAML, got Map keys must be unique/,
    ],
    ['of something else', 'list.yaml', '- x\n', /\(top level\): expected a mapping, got a list/],
  ])('%s is an error of the configuration', (_, name, text, message) => {
    const path = join(folder, name);
    if (text !== null) writeFileSync(path, text);
    expect(() => loadConfig(path)).toThrow(ConfigurationError);
    expect(() => loadConfig(path)).toThrow(message);
  });
});
