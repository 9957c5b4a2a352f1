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
  expect(() => parseYaml('arms: *hybrid\n', 'a.yaml')).toThrow(
    /^1 error in a\.yaml; correct and run again:\n {2}\(top level\): expected an anchor before each alias, got none for \*hybrid$/,
  );
  expect(() => applyOverrides({}, ['arms=*hybrid'])).toThrow(
    /arms: expected a YAML value \(\(top level\): none for \*hybrid\), got "\*hybrid"$/,
  );
});

test('merging goes key by key through mappings and replaces everything else', () => {
  const earlier = { decay: { halfLifeHours: 24 }, groups: ['text', 'time'], blend: { rcp: {} } };
  const later = { decay: { floor: 1 }, groups: ['text'], blend: null };
  expect(merge(earlier, later)).toEqual({ decay: { halfLifeHours: 24, floor: 1 }, groups: ['text'], blend: null });
  expect(earlier.decay).toEqual({ halfLifeHours: 24 });
});

describe('a mapping of another kind takes nothing over', () => {
  test.each([
    ['dataset', { name: 'jsonl', path: 'x' }, { name: 'spamassassin-threads' }],
    ['embedding', { encoder: 'lsa', dimension: 61 }, { encoder: 'use-lite' }],
    ['fuse', { convex: { hnsw: 0.3, bm25: 'rest' } }, { rrf: { k: 7 } }],
    ['launcher', { name: 'slurm', partition: 'x' }, { name: 'local' }],
    ['select', { mmr: { lambda: 0.3 } }, { 'diversity-filter': { k: 7 } }],
    ['rerank', { mentions: { k: 3 } }, { 'node-distance': { k: 7 } }],
    ['sweep', { method: 'random', samples: 5 }, { method: 'grid', arm: 'x' }],
    ['propagate', 'published', { beta: 0.7 }],
    ['propagate', { beta: 0.7, decay: 2 }, 'published'],
  ])('%s', (key, earlier, later) => {
    expect(merge({ [key]: earlier }, { [key]: later })).toEqual({ [key]: later });
  });

  test.each([
    ['embedding', { encoder: 'lsa', dimension: 61 }, { encoder: 'lsa', stem: true }],
    ['launcher', { name: 'slurm', partition: 'x' }, { time: '1:00' }],
    ['propagate', { beta: 0.7 }, { decay: 2 }],
    ['arm', { description: 'x', seed: null }, { description: 'y' }],
  ])('%s of one kind merges', (key, earlier, later) => {
    expect(merge({ [key]: earlier }, { [key]: later })).toEqual({ [key]: { ...earlier, ...later } });
  });

  test('a step with a method of one kind merges its options', () => {
    const merged = merge({ fuse: { rrf: { k: 7, bm25: 1 } } }, { fuse: { rrf: { k: 9 } } });
    expect(merged).toEqual({ fuse: { rrf: { k: 9, bm25: 1 } } });
  });
});

test('the leaves of a mapping are its values, lists and empty mappings', () => {
  const blend = { trajectory: { weight: 0, weights: {} } };
  const arm = { decay: null, blend, boost: [{ factor: 3 }], filter: false };
  expect(listLeafPaths(arm).map((path) => path.join('.'))).toEqual([
    'decay',
    'blend.trajectory.weight',
    'blend.trajectory.weights',
    'boost',
    'filter',
  ]);
});

test('a path goes by the keys that are there, also by those with a dot in them', () => {
  const config = {
    arms: { 'bm25 v1.2': { from: 'cosine', tune: { 'decay.halfLifeHours': [1] } }, cosine: [{ search: {} }] },
    sweep: { factors: { 'blend.rcp.weight': [0, 1] } },
  };
  const keys = (path: string) => parsePath(path, config);
  expect(keys('arms.bm25 v1.2.description')).toEqual(['arms', 'bm25 v1.2', 'description']);
  expect(keys('arms.cosine.0.search')).toEqual(['arms', 'cosine', '0', 'search']);
  expect(keys('arms.none.k')).toEqual(['arms', 'none', 'k']);
  expect(keys('arms.bm25 v1.2.tune.decay.halfLifeHours')).toEqual(['arms', 'bm25 v1.2', 'tune', 'decay.halfLifeHours']);
  expect(keys('arms.bm25 v1.2.set.hnsw.k')).toEqual(['arms', 'bm25 v1.2', 'set', 'hnsw.k']);
  expect(keys('arms.bm25 v1.2.tune.hnsw.k')).toEqual(['arms', 'bm25 v1.2', 'tune', 'hnsw.k']);
  expect(keys('sweep.factors.blend.rcp.weight.1')).toEqual(['sweep', 'factors', 'blend.rcp.weight', '1']);
  expect(keys('sweep.factors.hnsw.k')).toEqual(['sweep', 'factors', 'hnsw.k']);
  expect(keys('evaluation.samples')).toEqual(['evaluation', 'samples']);
});

test('a path goes through the written-out arms of a run by their names or numbers', () => {
  const config = { arms: [{ name: 'bm25 v1.2', steps: ['search'] }, { name: 'cosine' }] };
  expect(parsePath('arms.bm25 v1.2.decay.halfLifeHours', config)).toEqual(['arms', '0', 'decay', 'halfLifeHours']);
  expect(parsePath('arms.1.decay', config)).toEqual(['arms', '1', 'decay']);
  expect(applyOverrides(config, ['arms.cosine.seed=3']).arms).toEqual([config.arms[0], { name: 'cosine', seed: 3 }]);
});

test('an override reads its value as YAML and finds arms by name', () => {
  const config = { seed: 1, arms: { bm25: [{ search: { bm25: {} } }], cosine: { from: 'bm25' } } };
  const changed = applyOverrides(config, [
    'seed=7',
    'arms.cosine.set.decay.halfLifeHours=12',
    'arms.bm25.0.search.bm25.k=3',
    'arms.new={ from: bm25 }',
    'evaluation.metrics=[mrr@10, map]',
    'backend=null',
  ]);
  expect(changed).toEqual({
    seed: 7,
    arms: {
      bm25: [{ search: { bm25: { k: 3 } } }],
      cosine: { from: 'bm25', set: { 'decay.halfLifeHours': 12 } },
      new: { from: 'bm25' },
    },
    evaluation: { metrics: ['mrr@10', 'map'] },
    backend: null,
  });
  expect(config.seed).toBe(1);
});

test('an override with a key of a mapping makes one of an arm that is a list of steps', () => {
  const config = { arms: { bm25: [{ search: { bm25: {} } }] } };
  expect(applyOverrides(config, ['arms.bm25.set.bm25.k=3', 'arms.bm25.set.bm25.b=0.5']).arms).toEqual({
    bm25: { steps: [{ search: { bm25: {} } }], set: { 'bm25.k': 3, 'bm25.b': 0.5 } },
  });
  expect(config.arms.bm25).toHaveLength(1);
});

test('a value may hold an equals sign', () => {
  expect(applyOverrides({}, ['dataset.path=/a=b'])).toEqual({ dataset: { path: '/a=b' } });
});

test('every override that leads nowhere is named', () => {
  const applyBroken = () => applyOverrides({ seed: 1, arms: { a: [] } }, ['seed', 'seed.x=1', 'arms.a.0.k=2', 'a=[1']);
  expect(applyBroken).toThrow(/4 errors in --set/);
});

describe('an override of an arm that the config does not have', () => {
  const config = { arms: { fading: [], 'fading, v1.5': { from: 'fading' } } };
  const listFaults = (within: Record<string, unknown>, ...overrides: string[]) => {
    try {
      applyOverrides(within, overrides);
    } catch (error) {
      return (error as ConfigurationError).faults.map(({ path, nearest }) => `${path} ${nearest ?? ''}`);
    }
    return [];
  };

  test('is an error with the nearest arm', () => {
    expect(listFaults(config, 'arms.fadin.set.decay.halfLifeHours=6')).toEqual(['arms.fadin fading']);
    expect(listFaults(config, 'arms.fadin.description=x', 'arms.cosine=null')).toEqual([
      'arms.fadin fading',
      'arms.cosine ',
    ]);
    expect(listFaults({ arms: [{ name: 'fading' }] }, 'arms.fadign.seed=1')).toEqual(['arms.fadign fading']);
    expect(listFaults({}, 'arms.fading.seed=1')).toEqual(['arms.fading ']);
    expect(listFaults(config, 'arms.fading, v1.5.set.decay=6')).toEqual([]);
  });

  test('adds a whole arm: a list of steps or a mapping', () => {
    const { arms } = applyOverrides(config, ['arms.words=[search: { bm25: {} }]', 'arms.slow={ from: fading }']);
    expect(arms).toEqual({ ...config.arms, words: [{ search: { bm25: {} } }], slow: { from: 'fading' } });
  });
});

test('a key in double quotes is one key, whatever dots it has', () => {
  expect(parsePath('mix.weights."decay.24h"', {})).toEqual(['mix', 'weights', 'decay.24h']);
  expect(parsePath('"a.b".c."d', {})).toEqual(['a.b', 'c', '"d']);
  expect(parsePath('a..b', {})).toEqual(['a', '', 'b']);
});
