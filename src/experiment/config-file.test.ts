import { expect, test } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import { applyOverrides, merge, parseYaml } from './config-file.ts';

test('a syntax fault names its line', () => {
  expect(() => parseYaml('name: a\nseed: [1, 2\nother: 3\n', 'a.yaml')).toThrow(/line 3/);
  expect(() => parseYaml('name: a\nname: b\n', 'a.yaml')).toThrow(/unique/);
});

test('a document that is no mapping is refused', () => {
  expect(() => parseYaml('- 1\n', 'a.yaml')).toThrow(/expected a mapping, got \[1\]/);
  expect(() => parseYaml('', 'a.yaml')).toThrow(ConfigurationError);
});

test('merging goes key by key through mappings and replaces everything else', () => {
  const earlier = { decay: { halfLifeHours: 24 }, signals: ['bm25', 'cosine'], attention: { mechanism: 'rcp' } };
  const later = { decay: { floor: 1 }, signals: ['bm25'], attention: null };
  expect(merge(earlier, later)).toEqual({ decay: { halfLifeHours: 24, floor: 1 }, signals: ['bm25'], attention: null });
  expect(earlier.decay).toEqual({ halfLifeHours: 24 });
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
  const broken = () => applyOverrides({ seed: 1, arms: [] }, ['seed', 'seed.x=1', 'arms.none.k=2', 'a=[1']);
  expect(broken).toThrow(/4 fault\(s\) in --set/);
});
