import { expect, test } from 'vitest';
import { selectArms } from './arm-selection.ts';
import { resolveConfig } from './config.ts';
import { summariseArms } from './config-summary.ts';

const raw = {
  name: 'sample',
  dataset: { name: 'spamassassin-threads' },
  embedding: { encoder: 'lsa' },
  evaluation: { baseline: 'words' },
  arms: {
    words: { steps: [{ search: { bm25: {} } }], tune: { 'bm25.b': [0.3, 0.6, 0.9], 'bm25.k1': [1, 2] } },
    fading: { from: 'words', then: [{ decay: { halfLifeHours: 6 } }], tune: { 'decay.halfLifeHours': [6] } },
  },
  sweep: {
    method: 'one-factor',
    arm: 'fading',
    factors: { decay: [null], k: { path: 'bm25.k', values: [7] } },
  },
};
const config = resolveConfig(raw, 'test.yaml');

const bm25 = expect.objectContaining({ index: 'bm25', k: 100 });

test('an arm is what it starts from and what it writes over that', () => {
  expect(summariseArms(config)).toEqual([
    { name: 'words', extends: null, differences: { 'search.bm25': bm25 }, points: 6, isRun: true },
    { name: 'fading', extends: 'words', differences: { 'decay.halfLifeHours': 6 }, points: 0, isRun: true },
    { name: 'fading | decay=none', extends: 'fading', differences: { decay: null }, points: 0, isRun: true },
    { name: 'fading | k=7', extends: 'fading', differences: { 'search.bm25.k': 7 }, points: 0, isRun: true },
  ]);
});

test('a preset is printed as its options', () => {
  const arms = { words: [{ propagate: 'framework' }, { search: { flat: {} } }] };
  const [arm] = summariseArms(resolveConfig({ ...raw, arms, sweep: null }, 'test.yaml'));
  expect(arm?.differences).toMatchObject({ propagate: { combine: 'additive', self: 'exclude' } });
  expect(Object.keys(arm?.differences ?? {})).toEqual(['propagate', 'search.flat']);
});

test('what is written in a short form is printed in full', () => {
  const arms = { words: [{ search: { bm25: {} } }, { decay: 6 }, { blend: { trajectory: 0.2 } }] };
  const [arm] = summariseArms(resolveConfig({ ...raw, arms, sweep: null }, 'test.yaml'));
  expect(arm?.differences).toMatchObject({ decay: { halfLifeHours: 6 }, 'blend.trajectory': { weight: 0.2 } });
});

test('an arm that others only start from is marked', () => {
  const some = summariseArms(selectArms(config, ['fading-k-7']));
  expect(some.map(({ name, isRun }) => [name, isRun])).toEqual([
    ['words', true],
    ['fading', false],
    ['fading | k=7', true],
  ]);
});
