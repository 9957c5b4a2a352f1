import { expect, test } from 'vitest';
import { groupIntoClusters, estimateClusteredMean as reference } from '../../../eval/intervals/mean-intervals.ts';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { buildPayload } from '../page/payload.ts';
import * as app from './app.ts';
import * as sweep from './sweep.ts';

const result = inventSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 });
const payload = buildPayload(result);
const findUnifiedArm = (words: string) => payload.arms.findIndex(({ name }) => name === `unified | ${words}`);

test('a mean and its error are those of the evaluation', () => {
  const values = [0.5, 1, 0, 0.25, 1, 1, 0.125];
  const clusters = [0, 0, 2, 1, 1, 2, 2];
  const expected = reference(values, groupIntoClusters(clusters.map(String)));
  const { mean, error } = sweep.averageByCluster(values, clusters);
  expect(mean).toBeCloseTo(expected.mean, 14);
  expect(error).toBeCloseTo(expected.error, 14);
  expect(sweep.averageByCluster([0, 1], [3, 3]).error).toBe(0);
});

test('a cell holds the arms of its levels, of the others all or those where they are held', () => {
  const state = app.createApp(payload);
  expect(sweep.listArmsAt(state, 1, 2)).toEqual([
    findUnifiedArm('weight=0.25, window=5, decay=off'),
    findUnifiedArm('weight=0.25, window=5, decay=half a day'),
  ]);
  app.choose(state, { held: [-1, -1, 1] });
  expect(sweep.listArmsAt(state, 1, 2)).toEqual([findUnifiedArm('weight=0.25, window=5, decay=half a day')]);
  app.choose(state, { by: -1 });
  expect(sweep.listArmsAt(state, 1, -1)).toHaveLength(5);
  app.choose(state, { filter: 'window=9' });
  expect(sweep.listArmsAt(state, 1, -1)).toEqual([findUnifiedArm('weight=0.25, window=9, decay=half a day')]);
});

test('one arm has its own interval, several the clustered one of their mean', () => {
  const state = app.createApp(payload);
  const arms = sweep.listArmsAt(state, 2, 4);
  expect(arms).toHaveLength(2);
  expect(sweep.computeSweepPoint(state, [arms[0] as number])).toMatchObject({
    mean: payload.arms[arms[0] as number]?.intervals[0]?.[0],
    low: payload.arms[arms[0] as number]?.intervals[0]?.[1],
  });
  const values = result.queries.map((_, q) => {
    const [one, other] = arms.map((arm) => payload.arms[arm]?.perQuery[0]?.[q] as number);
    return ((one as number) + (other as number)) / 2;
  });
  const { mean, error } = reference(values, groupIntoClusters(result.queries.map(({ cluster }) => cluster)));
  const point = sweep.computeSweepPoint(state, arms);
  expect(point?.mean).toBeCloseTo(mean, 12);
  expect(point?.high).toBeCloseTo(mean + 2.4469118511449692 * error, 9); // t of 6 degrees of freedom, .975
  expect(sweep.computeSweepPoint(state, [])).toBeNull();
});

test('with one or two conversations no point has an interval', () => {
  const few = result.queries.map((query, q) => ({ ...query, cluster: `c${q % 2}` }));
  const unbounded = buildPayload({ ...result, queries: few });
  expect(unbounded.reach).toBeNull();
  const state = app.createApp(unbounded);
  expect(sweep.computeSweepPoint(state, sweep.listArmsAt(state, 2, 4))).toMatchObject({ low: null, high: null });
  const one = { ...unbounded.arms[0]!, intervals: [[0.5, null, null] as const] };
  const alone = app.createApp({ ...unbounded, arms: [one] });
  expect(sweep.computeSweepPoint(alone, [0])).toEqual({ mean: 0.5, low: null, high: null, arms: [0] });
});
