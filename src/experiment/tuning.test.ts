import { expect, test } from 'vitest';
import { resolveConfig } from './config.ts';
import { tuneArms } from './tuning.ts';

const config = resolveConfig(
  {
    name: 'tuning',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'plain' },
    arms: [
      { name: 'plain', candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } },
      { name: 'decayed', extends: 'plain', decay: {}, tune: { 'decay.halfLifeHours': [12, 48, 96] } },
      {
        name: 'placed',
        extends: 'decayed',
        trajectory: {},
        tune: { 'trajectory.weight': [0.1, 0.5], 'trajectory.sigma': [1, 2] },
      },
      { name: 'fixed', extends: 'decayed', decay: { halfLifeHours: 6 } },
    ],
  },
  'test',
);

test('each arm starts from what was chosen for the arm that it extends, unless it says otherwise', async () => {
  const asked: string[] = [];
  const tuned = await tuneArms(config.arms, async ({ name, decay, trajectory }) => {
    asked.push(`${name} ${decay?.halfLifeHours} ${trajectory?.weight} ${trajectory?.sigma}`);
    return name === 'decayed' ? -Math.abs((decay?.halfLifeHours ?? 0) - 50) : (trajectory?.weight ?? 0);
  });
  expect(tuned.map(({ options, tuned: point }) => [options.name, point])).toEqual([
    ['plain', {}],
    ['decayed', { 'decay.halfLifeHours': 48 }],
    ['placed', { 'decay.halfLifeHours': 48, 'trajectory.weight': 0.5, 'trajectory.sigma': 1 }],
    ['fixed', {}],
  ]);
  expect(tuned[2]?.options.decay?.halfLifeHours).toBe(48);
  expect(tuned[3]?.options.decay?.halfLifeHours).toBe(6);
  expect(asked).toEqual([
    'decayed 12 undefined undefined',
    'decayed 48 undefined undefined',
    'decayed 96 undefined undefined',
    'placed 48 0.1 1',
    'placed 48 0.1 2',
    'placed 48 0.5 1',
    'placed 48 0.5 2',
  ]);
});
