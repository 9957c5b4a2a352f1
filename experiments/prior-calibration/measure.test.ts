import { expect, test } from 'vitest';
import { ValidationError } from '../../src/core/errors/errors.ts';
import { type ArmResult, measureTask } from './measure.ts';
import { drawNeighbourSeries } from './series.fixture.ts';
import { priorCalibrationSettings } from './settings.ts';

const settings = priorCalibrationSettings.parse({ neighbours: [5, 20], powers: [1], kappas: [1, 5], samples: 500 });
const measure = (rates: readonly [number, number, number]) => {
  const { arms, ...rest } = measureTask(drawNeighbourSeries({ turns: 601, rates, width: 20 }), settings);
  return { ...rest, arms: new Map(arms.map((arm) => [arm.name, arm])) };
};
const compareWithBase = (arm: ArmResult | undefined) => arm?.differences['base rate'];

test('priors beat the base rate where topics differ', () => {
  const { arms, dev, test: measured } = measure([0.95, 0.5, 0.05]);
  expect([dev.turns, measured.turns]).toEqual([301, 300]);
  for (const name of ['neighbours', 'weighted neighbours', 'prior', 'default prior']) {
    expect(compareWithBase(arms.get(name))?.difference.high).toBeLessThan(0);
    expect(compareWithBase(arms.get(name))?.correctedP).toBeLessThan(0.05);
  }
  expect(arms.get('base rate')?.differences).toEqual({});
  expect(Object.keys(arms.get('prior')?.differences ?? {})).toEqual(['base rate', 'neighbours']);
});

test('priors do not beat it where topics are alike', () => {
  const { arms } = measure([0.4, 0.4, 0.4]);
  for (const name of ['neighbours', 'weighted neighbours', 'prior', 'default prior'])
    expect(compareWithBase(arms.get(name))?.difference.mean).toBeGreaterThan(0);
});

test('mixing by confidence is nearer to the base rate than the neighbours alone', () => {
  const { arms } = measure([0.4, 0.4, 0.4]);
  expect(arms.get('prior')?.brier.mean).toBeLessThan(arms.get('neighbours')?.brier.mean as number);
});

test('a series without test turns is refused', () => {
  const { series, ...rest } = drawNeighbourSeries({ turns: 31, rates: [0.5, 0.5, 0.5], width: 20 });
  const turns = series.turns.map((turn) => ({ ...turn, dev: true }));
  expect(() => measureTask({ ...rest, series: { ...series, turns } }, settings)).toThrow(ValidationError);
});
