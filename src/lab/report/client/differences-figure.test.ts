import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, openPage } from '../page/page.harness.ts';
import { buildDifferenceTrace, listPanelMetrics } from './differences-figure.ts';

beforeAll(() => openPage(1400));

test('a panel has the difference of its metric with interval and corrected p', () => {
  const arm = buildHandmadeArm('a < b', {
    differences: [
      [0.9, 0.8, 1, 0.5],
      [-0.03, -0.05, 0.01, 0.2],
    ],
    verdicts: ['better', 'undecided'],
  });
  expect(buildDifferenceTrace(arm, 7, 1, 2, 0.95)).toMatchObject({
    x: [-0.03],
    y: [7],
    xaxis: 'x3',
    error_x: { array: [expect.closeTo(0.04, 12)], arrayminus: [expect.closeTo(0.02, 12)] },
    text: ['a &lt; b<br>−.030 [−.050, +.010], p .200'],
    marker: { symbol: 'circle', color: '#7a756c' },
  });
});

test.each([
  ['better', 'triangle-up', '#12608f'],
  ['worse', 'triangle-down', '#ad4513'],
] as const)('%s: %s', (verdict, symbol, color) => {
  const arm = buildHandmadeArm('a', { verdicts: [verdict] });
  expect(buildDifferenceTrace(arm, 0, 0, 0, 0.95)).toMatchObject({
    xaxis: 'x',
    marker: { symbol, color },
    error_x: { color },
  });
});

test('without an interval the dot stands alone', () => {
  const arm = buildHandmadeArm('a', { differences: [[0.1, null, null, 0.3]] });
  expect(buildDifferenceTrace(arm, 0, 0, 0, 0.95)).toMatchObject({
    error_x: { visible: false },
    text: ['a<br>+.100, p .300'],
  });
});

test('panels are the first metrics, and the chosen one instead of the last if it is not among them', () => {
  expect(listPanelMetrics(3, 1, 4)).toEqual([0, 1, 2]);
  expect(listPanelMetrics(7, 2, 4)).toEqual([0, 1, 2, 3]);
  expect(listPanelMetrics(7, 5, 4)).toEqual([0, 1, 2, 5]);
  expect(listPanelMetrics(7, 5, 1)).toEqual([5]);
});
