import { expect, test } from 'vitest';
import { least } from './config.fixture.ts';
import { type ArmOptions, resolveConfig } from './config.ts';
import { applyTunedPoint, inheritTunedPoint, withTuned } from './tuned-arm.ts';

test('tuned values are put in place and defaults filled in around them', () => {
  const { arms } = resolveConfig(least, 'test.yaml');
  const arm = withTuned(arms[0] as ArmOptions, { 'trajectory.sigma': 2, 'candidates.0.k1': 0.9 });
  expect(arm.trajectory).toMatchObject({ sigma: 2, weight: 0.3 });
  expect(arm.candidates[0]).toMatchObject({ index: 'bm25', k1: 0.9, b: 0.75 });
  expect(arms[0]?.trajectory).toBeNull();
});

test('a path that leads nowhere gives no arm', () => {
  const [arm] = resolveConfig(least, 'test.yaml').arms as [ArmOptions];
  expect(applyTunedPoint(arm, { 'candidates.0.k1': 0.9, 'candidates.3.k1': 0.9 })).toBeNull();
});

test('a value that an arm writes is its own, also where the arm that it extends has the same before it is tuned', () => {
  const { arms } = resolveConfig(
    {
      ...least,
      evaluation: { baseline: 'plain' },
      arms: [
        { name: 'plain', candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } },
        { name: 'decayed', extends: 'plain', decay: {}, tune: { 'decay.halfLifeHours': [12, 48] } },
        { name: 'by default', extends: 'decayed', sameChannel: true },
        { name: 'written', extends: 'decayed', decay: { halfLifeHours: 24 } },
      ],
      sweep: { method: 'one-factor', arm: 'decayed', factors: { 'decay.halfLifeHours': [24], sameChannel: [true] } },
    },
    'test',
  );
  expect(arms[1]?.decay).toEqual({ halfLifeHours: 24 });
  const inherited = arms
    .slice(2)
    .map((arm) => [arm.name, inheritTunedPoint(arm, arms[1] as ArmOptions, { 'decay.halfLifeHours': 48 })]);
  expect(inherited).toEqual([
    ['by default', { 'decay.halfLifeHours': 48 }],
    ['written', {}],
    ['decayed | decay.halfLifeHours=24', {}],
    ['decayed | sameChannel=true', { 'decay.halfLifeHours': 48 }],
  ]);
});
