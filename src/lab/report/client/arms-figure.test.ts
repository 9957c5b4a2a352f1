import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload, openPage } from '../page/page.harness.ts';
import * as app from './app.ts';
import { buildArmTrace, formatArmNames } from './arms-figure.ts';

beforeAll(() => openPage(1400));

test('the dot is the mean, the whiskers reach from low to high', () => {
  const arm = buildHandmadeArm('a < b', {
    intervals: [
      [0.9, 0.8, 1],
      [0.5, 0.41, 0.53],
    ],
    verdicts: ['worse', 'better'],
  });
  expect(buildArmTrace(arm, 7, 1, false)).toMatchObject({
    x: [0.5],
    y: [7],
    error_x: { symmetric: false, array: [expect.closeTo(0.03, 12)], arrayminus: [expect.closeTo(0.09, 12)] },
    text: ['a &lt; b<br>.500 [.410, .530]'],
  });
});

test('without an interval the dot stands alone', () => {
  const arm = buildHandmadeArm('a', { intervals: [[0.5, null, null]], verdicts: ['undecided'] });
  expect(buildArmTrace(arm, 0, 0, false)).toMatchObject({ x: [0.5], error_x: { visible: false }, text: ['a<br>.500'] });
});

test.each([
  ['better', false, 'triangle-up', '#12608f'],
  ['worse', false, 'triangle-down', '#ad4513'],
  ['undecided', false, 'circle', '#7a756c'],
  ['undecided', true, 'diamond', '#1c1b19'],
] as const)('%s, baseline %s: %s', (verdict, isBaseline, symbol, color) => {
  const arm = buildHandmadeArm('a', { verdicts: [verdict] });
  expect(buildArmTrace(arm, 0, 0, isBaseline)).toMatchObject({ marker: { symbol, color }, error_x: { color } });
});

test('the name of the baseline is bold, a long one loses its middle where the page is narrow', () => {
  const long = 'propagation, framework defaults | control: permuted-order';
  const state = app.createApp(buildHandmadePayload([buildHandmadeArm('a & b'), buildHandmadeArm(long)]));
  expect(formatArmNames(state, [1, 0])).toEqual([long, '<b>a &amp; b</b>']);
  openPage(420);
  expect(formatArmNames(state, [1])).toEqual(['propagation, framework …ontrol: permuted-order']);
  openPage(1400);
});
