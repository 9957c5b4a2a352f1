import { expect, test } from 'vitest';
import { withTuned } from '../run/tuning.ts';
import { applyTunedPoint, inheritTunedPoint } from './arm-selection.ts';
import { least, plain } from './config.fixture.ts';
import { type ArmOptions, resolveConfig } from './config.ts';

const placed = [...plain, { blend: { trajectory: 0.4 } }];

test('tuned values are put in place and defaults filled in around them', () => {
  const { arms } = resolveConfig({ ...least, arms: { plain: placed } }, 'test.yaml');
  const arm = withTuned(arms[0] as ArmOptions, {
    'blend.trajectory.sigma': 2,
    'search.bm25.k1': 0.9,
    'blend.rcp': 0.1,
  });
  expect(arm).toMatchObject({
    blend: { trajectory: { sigma: 2, weight: 0.4 }, rcp: { weight: 0.1, topology: 'ring' } },
    search: { bm25: { index: 'bm25', k1: 0.9, b: 0.75 } },
  });
  expect(arms[0]).toMatchObject({ blend: { trajectory: { sigma: 1 } } });
});

test('a path that leads nowhere gives no arm', () => {
  const [arm] = resolveConfig(least, 'test.yaml').arms as [ArmOptions];
  expect(applyTunedPoint(arm, { 'search.bm25.k1': 0.9, 'search.bm25.k1.x': 0.9 })).toBeNull();
});

test('a value that an arm writes is its own, also where the arm that it extends has the same before it is tuned', () => {
  const { arms } = resolveConfig(
    {
      ...least,
      arms: {
        plain,
        decayed: { from: 'plain', then: [{ decay: {} }], tune: { 'decay.halfLifeHours': [12, 48] } },
        'by default': { from: 'decayed', set: { 'bm25.k': 7 } },
        written: { from: 'decayed', set: { 'decay.halfLifeHours': 24 } },
        'written short': { from: 'decayed', set: { decay: 24 } },
      },
      sweep: { method: 'one-factor', arm: 'decayed', factors: { 'decay.halfLifeHours': [24], 'bm25.k': [7] } },
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
    ['written short', {}],
    ['decayed | decay.halfLifeHours=24', {}],
    ['decayed | bm25.k=7', { 'decay.halfLifeHours': 48 }],
  ]);
});
