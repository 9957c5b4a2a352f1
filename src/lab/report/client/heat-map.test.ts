import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload, openPage } from '../page/page.harness.ts';
import * as app from './app.ts';
import { computeHeatCells, mapTrace } from './heat-map.ts';

/** Of 2 x 3 cells one was not run. */
const buildSweptLevelArm = (levels: readonly number[], mean: number) =>
  buildHandmadeArm(`arm ${levels}`, { levels, intervals: [[mean, mean - 0.01, mean + 0.02]] });
const arms = [
  buildHandmadeArm('base'),
  buildSweptLevelArm([0, 0], 0.11),
  buildSweptLevelArm([1, 0], 0.22),
  buildSweptLevelArm([2, 0], 0.33),
  buildSweptLevelArm([0, 1], 0.44),
  buildSweptLevelArm([2, 1], 0.66),
];
const factors = [
  { name: 'weight', numeric: true, levels: ['1', '2', '3'] },
  { name: 'kind', numeric: false, levels: ['x', 'y'] },
];
const state = app.createApp(buildHandmadePayload(arms, { factors, crossed: true }));

beforeAll(() => openPage(1400));

test('a cell has the mean of its arm as label, and the interval to hover; a pair that was not run has none', () => {
  expect(mapTrace(state, computeHeatCells(state))).toMatchObject({
    x: [0, 1, 2, 0, 2],
    base: [-0.475, -0.475, -0.475, 0.525, 0.525],
    text: ['.110', '.220', '.330', '.440', '.660'],
    customdata: [
      'arm 0,0<br>.110 [.100, .130]',
      'arm 1,0<br>.220 [.210, .240]',
      'arm 2,0<br>.330 [.320, .350]',
      'arm 0,1<br>.440 [.430, .460]',
      'arm 2,1<br>.660 [.650, .680]',
    ],
  });
});

test('the scale goes from pale for the least to strong for the greatest', () => {
  const { marker } = mapTrace(state, computeHeatCells(state)) as { marker: { color: string[] } };
  expect(marker.color[0]).toBe('#f5f3ee');
  // .42 of the way from #f5f3ee to #12608f
  expect(marker.color[4]).toBe('#96b5c6');
});

test('a cell of several arms says how many', () => {
  app.choose(state, { across: 1, by: -1 });
  const point = { mean: 0.5, low: 0.4, high: 0.7, arms: [1, 2, 3] };
  expect(mapTrace(state, [[point]])).toMatchObject({ customdata: ['3 arms<br>.500 [.400, .700]'] });
});
