import { expect, test } from 'vitest';
import { ValidationError } from '../../src/core/errors/errors.ts';
import { buildDayCorpus } from './corpus.fixture.ts';
import { findBusySpan, measureDrifts } from './drift.ts';
import { type DailySample, listDayEnds } from './replay.ts';
import { DAY_MILLISECONDS } from './retention.ts';
import { driftSettings } from './settings.ts';

const settings = driftSettings.parse({ retentionDays: 3, leastMessages: 2 });
const start = Date.UTC(2024, 0, 1);

test('the busy span is the longest run of days with enough messages before them', () => {
  const days = [0, 1, 8, 9, 10, 11, 30, 30.1];
  const corpus = buildDayCorpus(days.map((day) => ['c', day]));
  // Ends of days 2 to 3; then 10 to 13, the last with those of days 10 and 11 alone in the three days before; then 31.
  expect(findBusySpan(corpus, listDayEnds(corpus), settings)).toEqual({
    start: start + 10 * DAY_MILLISECONDS,
    end: start + 13 * DAY_MILLISECONDS,
  });
});

test('a corpus that is never busy is refused', () => {
  const corpus = buildDayCorpus([
    ['c', 0],
    ['c', 9],
  ]);
  const find = () => findBusySpan(corpus, listDayEnds(corpus), settings);
  expect(find).toThrow(ValidationError);
  expect(find).toThrow('no day has 2 messages in the 3 days before it; lower leastMessages');
});

function buildDailySamples(energies: readonly number[]): DailySample[] {
  return energies.map((energy, i) => {
    const rest = { magnitude: 1, information: 0, informationBits: 0, count: 7 };
    return { time: start + i * DAY_MILLISECONDS, energy, coherence: 2 * energy, ...rest };
  });
}

test('drift compares the ends, and days that are the retention time apart', () => {
  const replayed = {
    name: 'x',
    description: '',
    samples: buildDailySamples([9, 0.2, 0.25, 0.4, 0.201, 0.2, 0.3, 9]),
    tally: { added: 0, removed: 0, addedFell: 0, removedFell: 0, violations: 0 },
  };
  const span = { start: start + DAY_MILLISECONDS, end: start + 6 * DAY_MILLISECONDS };
  const drifts = new Map(measureDrifts(replayed, span, 3).map((drift) => [drift.figure, drift]));
  // Pairs: .2 to .201, .25 to .2, .4 to .3.
  const energy = drifts.get('energy');
  expect(energy).toMatchObject({ initial: 0.2, final: 0.3, withinOnePercent: 1 / 3 });
  expect(energy?.drift).toBeCloseTo(0.5, 12);
  expect(energy?.largest).toBeCloseTo(-0.25, 12);
  expect(drifts.get('information')).toMatchObject({ drift: 0, largest: 0, withinOnePercent: 1 });
  expect(measureDrifts(replayed, span, 11)[0]).toMatchObject({ largest: null, withinOnePercent: null });
});
