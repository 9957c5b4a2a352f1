import { expect, test } from 'vitest';
import { selectArms } from './arm-selection.ts';
import { resolveConfig } from './config.ts';
import { summariseArms } from './config-summary.ts';

const raw = {
  name: 'sample',
  dataset: { name: 'spamassassin-threads' },
  embedding: { encoder: 'lsa' },
  evaluation: { baseline: 'words' },
  base: { candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } },
  arms: [
    { name: 'words', tune: { 'candidates.0.b': [0.3, 0.6, 0.9], 'candidates.0.k1': [1, 2] } },
    { name: 'fading', extends: 'words', decay: { halfLifeHours: 6 }, tune: { 'decay.halfLifeHours': [6] } },
  ],
  sweep: {
    method: 'one-factor',
    arm: 'fading',
    factors: { decay: [null], k: { path: 'candidates.0.k', values: [7] } },
  },
};
const config = resolveConfig(raw, 'test.yaml');

test('an arm is what it starts from and what it writes over that', () => {
  expect(summariseArms(config)).toEqual([
    { name: 'words', extends: null, differences: {}, points: 6, isRun: true },
    { name: 'fading', extends: 'words', differences: { 'decay.halfLifeHours': 6 }, points: 0, isRun: true },
    { name: 'fading | decay=none', extends: 'fading', differences: { decay: null }, points: 0, isRun: true },
    { name: 'fading | k=7', extends: 'fading', differences: { 'candidates.0.k': 7 }, points: 0, isRun: true },
  ]);
});

test('a preset is printed as its options', () => {
  const arms = [
    { name: 'words', candidates: [{ index: 'flat' }, { index: 'bm25' }], propagation: { preset: 'framework' } },
  ];
  const [arm] = summariseArms(resolveConfig({ ...raw, arms, sweep: null }, 'test.yaml'));
  expect(arm?.differences).toMatchObject({ propagation: { combine: 'additive', self: 'exclude' } });
  expect(Object.keys(arm?.differences ?? {})).toEqual(['candidates', 'propagation']);
});

test('an arm that others only start from is marked', () => {
  const some = summariseArms(selectArms(config, ['fading-k-7']));
  expect(some.map(({ name, isRun }) => [name, isRun])).toEqual([
    ['words', true],
    ['fading', false],
    ['fading | k=7', true],
  ]);
});
