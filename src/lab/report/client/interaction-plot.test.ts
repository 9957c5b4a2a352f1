import { beforeAll, expect, test } from 'vitest';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { buildHandmadeArm, buildHandmadePayload, openPage } from '../page/page.harness.ts';
import { buildPayload } from '../page/payload.ts';
import * as app from './app.ts';
import { buildLevelAxis, buildSeriesTrace, listSeries, startMean } from './interaction-plot.ts';
import * as sweep from './sweep.ts';

const payload = buildPayload(inventSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 }));

beforeAll(() => openPage(1400));

test('lines of the interaction plot are the levels of a factor, or one of all arms', () => {
  const state = app.createApp(payload);
  const series = listSeries(state);
  expect(series.map(({ name, points }) => [name, points.length])).toEqual([
    ['1', 3],
    ['3', 3],
    ['5', 3],
    ['7', 3],
    ['9', 3],
  ]);
  expect(series[3]?.points[2]?.arms).toEqual(sweep.listArmsAt(state, 2, 3));
  app.choose(state, { by: -1 });
  expect(listSeries(state).map(({ points }) => points.map((point) => point?.arms.length))).toEqual([[10, 10, 10]]);
});

const FACTORS = [
  { name: 'half-life', numeric: true, levels: ['0.5', '2', '11'] },
  { name: 'kind', numeric: false, levels: ['x', 'y', 'z'] },
];
const buildLevelArm = (at: number, mean: number) =>
  buildHandmadeArm(`arm ${at}`, { levels: [at, 2 - at], intervals: [[mean, mean - 0.03, mean + 0.05]] });
const arms = [buildHandmadeArm('base'), buildHandmadeArm('start'), buildLevelArm(0, 0.31), buildLevelArm(2, 0.77)];
const createFactorApp = (more: object) =>
  app.createApp(buildHandmadePayload(arms, { factors: FACTORS, start: 1, ...more }));
const drawFirstSeries = (state: app.App) => {
  const [series] = listSeries(state);
  return buildSeriesTrace(state, series as NonNullable<typeof series>, 0, 1);
};

test('a point is the mean with whiskers from low to high; what was not run is left out', () => {
  expect(drawFirstSeries(createFactorApp({}))).toMatchObject({
    x: [0, 1, 2],
    y: [0.31, null, 0.77],
    error_y: {
      array: [expect.closeTo(0.05, 12), null, expect.closeTo(0.05, 12)],
      arrayminus: [expect.closeTo(0.03, 12), null, expect.closeTo(0.03, 12)],
    },
    line: { color: '#12608f' },
    text: ['arm 0<br>.310 [.280, .360]', '', 'arm 2<br>.770 [.740, .820]'],
  });
});

test('levels drawn at random are at their numbers, without a line', () => {
  const state = createFactorApp({ drawn: true });
  expect(drawFirstSeries(state)).toMatchObject({ mode: 'markers', x: [0.5, 2, 11] });
  expect(buildLevelAxis(state)).toMatchObject({ tickvals: [5, 10], ticktext: ['5', '10'] });
  app.choose(state, { across: 1 });
  expect(drawFirstSeries(state)).toMatchObject({ mode: 'markers', x: [0, 1, 2] });
  expect(buildLevelAxis(state)).toMatchObject({ ticktext: ['x', 'y', 'z'] });
});

test('a line leads through numbers and, of crossed factors, through any levels', () => {
  const state = createFactorApp({});
  expect(drawFirstSeries(state)).toMatchObject({ mode: 'lines+markers' });
  app.choose(state, { across: 1 });
  expect(drawFirstSeries(state)).toMatchObject({ mode: 'markers' });
  const crossed = createFactorApp({ crossed: true });
  app.choose(crossed, { across: 1, by: 0 });
  expect(drawFirstSeries(crossed)).toMatchObject({ mode: 'lines+markers' });
});

test('the arm that the sweep starts from is a line, unless factors are crossed or it was not run', () => {
  expect(startMean(createFactorApp({}))).toBe(0.5);
  expect(startMean(createFactorApp({ drawn: true }))).toBe(0.5);
  expect(startMean(createFactorApp({ crossed: true }))).toBeNull();
  expect(startMean(createFactorApp({ start: -1 }))).toBeNull();
});
