import { expect, test } from 'vitest';
import { forecast, forecastRate } from './forecasts.ts';
import type { NeighbourSeries } from './neighbours.ts';
import { drawNeighbourSeries } from './series.fixture.ts';
import { priorCalibrationSettings } from './settings.ts';

const found = drawNeighbourSeries({ turns: 211, rates: [0.9, 0.5, 0.1], width: 20 });
/** One value a choice, so that outcomes change no choice. */
const fixed = priorCalibrationSettings.parse({ neighbours: [7], powers: [2], kappas: [3], recent: [11] });

test('a base rate is the share of the outcomes known by then', () => {
  const { probabilities } = forecastRate('base rate', found, Number.POSITIVE_INFINITY);
  const recent = forecastRate('recent', found, 11).probabilities;
  for (const [i, known] of found.observed.entries()) {
    const outcomes = found.series.turns.slice(0, known).map(({ outcome }) => outcome as number);
    const share = (list: readonly number[]) =>
      list.length === 0 ? 0.5 : list.reduce((sum, one) => sum + one, 0) / list.length;
    expect(probabilities[i]).toBeCloseTo(share(outcomes), 12);
    expect(recent[i]).toBeCloseTo(share(outcomes.slice(-11)), 12);
  }
});

test('arms pool the nearest k, weigh by a power of the cosine, and mix by confidence', () => {
  const arms = new Map(forecast(found, fixed).map((arm) => [arm.name, arm]));
  const query = 201;
  const slots = Array.from({ length: 7 }, (_, i) => query * 20 + i);
  const outcomes = slots.map(
    (slot) => found.series.turns[found.neighbours.positions[slot] as number]?.outcome as number,
  );
  const weights = slots.map((_, i) => (1 / (1 + i)) ** 2);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const plain = sum(outcomes) / 7;
  const weighted = sum(outcomes.map((outcome, i) => outcome * (weights[i] as number))) / sum(weights);
  expect(arms.get('neighbours')?.probabilities[query]).toBeCloseTo(plain, 12);
  expect(arms.get('weighted neighbours')?.probabilities[query]).toBeCloseTo(weighted, 6);
  const base = arms.get('base rate')?.probabilities[query] as number;
  const power = arms.get('prior')?.chosen.power;
  const count = power === 0 ? 7 : sum(weights) ** 2 / sum(weights.map((weight) => weight * weight));
  const mean = power === 0 ? plain : weighted;
  expect(arms.get('prior')?.probabilities[query]).toBeCloseTo((count * mean + 3 * base) / (count + 3), 6);
  expect(arms.get('default prior')?.chosen).toEqual({ k: 10, power: 0, kappa: 5 });
});

/** The same with the outcome of one turn turned over. */
function flip({ series, ...rest }: NeighbourSeries, slot: number): NeighbourSeries {
  const turns = series.turns.map((turn, i) =>
    i === slot ? { ...turn, outcome: turn.outcome === 1 ? (0 as const) : (1 as const) } : turn,
  );
  return { ...rest, series: { ...series, turns } };
}

test('no outcome that is not yet known changes a prediction', () => {
  const before = forecast(found, fixed);
  for (const slot of [3, 50, 104, 180, 207]) {
    const after = forecast(flip(found, slot), fixed);
    let changed = 0;
    for (const [i, arm] of before.entries())
      for (const [query, known] of found.observed.entries()) {
        if (arm.chosen.power !== after[i]?.chosen.power) continue;
        const same = arm.probabilities[query] === after[i]?.probabilities[query];
        if (known <= slot) expect(same).toBe(true);
        else if (!same) changed++;
      }
    expect(changed > 0).toBe(slot < 200);
  }
});
