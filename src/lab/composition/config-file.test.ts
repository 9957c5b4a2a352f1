import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { applyOverrides, listLeafPaths, merge, parsePath, parseYaml } from './config-file.ts';

test('a syntax fault names its line', () => {
  expect(() => parseYaml('name: a\nseed: [1, 2\nother: 3\n', 'a.yaml')).toThrow(/line 3/);
  expect(() => parseYaml('name: a\nname: b\n', 'a.yaml')).toThrow(/unique/);
});

test('a document that is no mapping is refused', () => {
  expect(() => parseYaml('- 1\n', 'a.yaml')).toThrow(/expected a mapping, got a list$/);
  expect(() => parseYaml('', 'a.yaml')).toThrow(ConfigurationError);
});

test('aliases are written out, however many of them one anchor has', () => {
  const uses = Array.from({ length: 211 }, (_, i) => `u${i}: *tune`).join('\n');
  const config = parseYaml(`shared: &tune { decay: [6, 24] }\n${uses}\n`, 'a.yaml');
  expect(Object.keys(config)).toHaveLength(212);
  expect(config.u210).toEqual({ decay: [6, 24] });
});

test('an alias without an anchor is an error that names it', () => {
  expect(() => parseYaml('base: *hybrid\n', 'a.yaml')).toThrow(
    /^1 error in a\.yaml; correct and run again:\n {2}\(top level\): expected an anchor before each alias, got none for \*hybrid$/,
  );
  expect(() => applyOverrides({}, ['base=*hybrid'])).toThrow(
    /base: expected a YAML value \(\(top level\): none for \*hybrid\), got "\*hybrid"$/,
  );
});

test('merging goes key by key through mappings and replaces everything else', () => {
  const earlier = { decay: { halfLifeHours: 24 }, signals: ['bm25', 'cosine'], attention: { mechanism: 'rcp' } };
  const later = { decay: { floor: 1 }, signals: ['bm25'], attention: null };
  expect(merge(earlier, later)).toEqual({ decay: { halfLifeHours: 24, floor: 1 }, signals: ['bm25'], attention: null });
  expect(earlier.decay).toEqual({ halfLifeHours: 24 });
});

describe('a mapping of another kind takes nothing over', () => {
  test.each([
    ['dataset', { name: 'jsonl', path: 'x' }, { name: 'spamassassin-threads' }],
    ['embedding', { encoder: 'lsa', dimension: 61 }, { encoder: 'use-lite' }],
    ['fusion', { method: 'convex', alpha: 0.3 }, { method: 'rrf', k: 7 }],
    ['launcher', { name: 'slurm', partition: 'x' }, { name: 'local' }],
    ['selection', { method: 'mmr', lambda: 0.3 }, { method: 'diversity-filter', k: 7 }],
    ['sweep', { method: 'random', samples: 5 }, { method: 'grid', arm: 'x' }],
    ['propagation', { preset: 'published' }, { beta: 0.7 }],
    ['propagation', { beta: 0.7, decay: 2 }, { preset: 'published' }],
  ])('%s', (key, earlier, later) => {
    expect(merge({ [key]: earlier }, { [key]: later })).toEqual({ [key]: later });
  });

  test.each([
    ['fusion', { method: 'convex', alpha: 0.3 }, { theoreticalMinimum: [0, 0] }],
    ['fusion', { method: 'rrf', weights: [1, 2] }, { method: 'rrf', k: 7 }],
    ['propagation', { beta: 0.7 }, { decay: 2 }],
    ['arm', { name: 'x', decay: null }, { name: 'y' }],
  ])('%s of one kind merges', (key, earlier, later) => {
    expect(merge({ [key]: earlier }, { [key]: later })).toEqual({ [key]: { ...earlier, ...later } });
  });
});

test('the leaves of a mapping are its values, lists and empty mappings', () => {
  const arm = { decay: null, trajectory: { weight: 0, weights: {} }, candidates: [{ k: 3 }], sameChannel: false };
  expect(listLeafPaths(arm).map((path) => path.join('.'))).toEqual([
    'decay',
    'trajectory.weight',
    'trajectory.weights',
    'candidates',
    'sameChannel',
  ]);
});

test('a path goes by the keys that are there, also by those with a dot in them', () => {
  const config = {
    arms: [{ name: 'bm25 v1.2', tune: { 'decay.halfLifeHours': [1] } }, { name: 'cosine' }],
    sweep: { factors: { 'trajectory.weight': [0, 1] } },
  };
  const keys = (path: string) => parsePath(path, config);
  expect(keys('arms.bm25 v1.2.decay.halfLifeHours')).toEqual(['arms', '0', 'decay', 'halfLifeHours']);
  expect(keys('arms.1.k')).toEqual(['arms', '1', 'k']);
  expect(keys('arms.none.k')).toEqual(['arms', 'none', 'k']);
  expect(keys('arms.0.tune.decay.halfLifeHours')).toEqual(['arms', '0', 'tune', 'decay.halfLifeHours']);
  expect(keys('arms.0.tune.trajectory.weight')).toEqual(['arms', '0', 'tune', 'trajectory.weight']);
  expect(keys('sweep.factors.trajectory.weight.1')).toEqual(['sweep', 'factors', 'trajectory.weight', '1']);
  expect(keys('sweep.factors.attention.weight')).toEqual(['sweep', 'factors', 'attention.weight']);
  expect(keys('evaluation.samples')).toEqual(['evaluation', 'samples']);
});

test('an override reads its value as YAML and finds arms by name or by number', () => {
  const config = { seed: 1, arms: [{ name: 'bm25', k1: 1 }, { name: 'cosine' }] };
  const changed = applyOverrides(config, [
    'seed=7',
    'arms.cosine.decay.halfLifeHours=12',
    'arms.0.k1=0.5',
    'evaluation.metrics=[mrr@10, map]',
    'backend=null',
  ]);
  expect(changed).toEqual({
    seed: 7,
    arms: [
      { name: 'bm25', k1: 0.5 },
      { name: 'cosine', decay: { halfLifeHours: 12 } },
    ],
    evaluation: { metrics: ['mrr@10', 'map'] },
    backend: null,
  });
  expect(config.seed).toBe(1);
});

test('a value may hold an equals sign', () => {
  expect(applyOverrides({}, ['dataset.path=/a=b'])).toEqual({ dataset: { path: '/a=b' } });
});

test('every override that leads nowhere is named', () => {
  const applyBroken = () => applyOverrides({ seed: 1, arms: [] }, ['seed', 'seed.x=1', 'arms.none.k=2', 'a=[1']);
  expect(applyBroken).toThrow(/4 errors in --set/);
});
