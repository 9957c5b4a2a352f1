import { expect, test } from 'vitest';
import { buildDayCorpus, computeNoon } from './corpus.fixture.ts';
import { createRetentions, DAY_MILLISECONDS, type Retention } from './retention.ts';
import { driftSettings } from './settings.ts';

const corpus = buildDayCorpus([
  ['soup', 0],
  ['bread', 1],
  ['soup', 2],
  ['cake', 3],
  ['bread', 9],
  ['cake', 10],
]);
const settings = driftSettings.parse({ retentionDays: 7, halfLifeDays: 2, capacity: 3 });
const [everything, week, fading, busiest] = createRetentions(corpus, settings) as [
  Retention,
  Retention,
  Retention,
  Retention,
];

/** Lets all turns in and tells, for each, what left just after it. */
function playAll(retention: Retention): number[][] {
  return corpus.turns.map((turn, position) => {
    retention.admit(position);
    return retention.release(turn.timestamp);
  });
}

test('nothing leaves where everything is kept', () => {
  expect(playAll(everything).flat()).toEqual([]);
  expect(everything.release(Number.POSITIVE_INFINITY)).toEqual([]);
});

test('what is as old as the retention time leaves, once', () => {
  expect(playAll(week)).toEqual([[], [], [], [], [0, 1, 2], [3]]);
  expect(week.release(computeNoon(16) - 1)).toEqual([]);
  expect(week.release(computeNoon(17))).toEqual([4, 5]);
  expect(week.release(computeNoon(90))).toEqual([]);
  expect([0, 5].map((position) => week.salienceOf(position))).toEqual([1, 1]);
});

test('a fading memory keeps as long, and a turn weighs half of one that is a half-life younger', () => {
  expect(playAll(fading)).toEqual([[], [], [], [], [0, 1, 2], [3]]);
  expect(fading.salienceOf(2) / fading.salienceOf(0)).toBe(2);
  expect(fading.salienceOf(5) / fading.salienceOf(0)).toBe(2 ** (10 / 2));
});

test('of busy threads the longest silent gives way, its oldest turn first', () => {
  // Room for 3: when cake comes, bread has been silent for longest; when bread comes back, soup has.
  expect(playAll(busiest)).toEqual([[], [], [], [1], [0], [2]]);
  expect([0, 2, 5].map((position) => busiest.salienceOf(position))).toEqual([1, 2, 2]);
  expect(busiest.release(computeNoon(0) + 999 * DAY_MILLISECONDS)).toEqual([]);
});
