import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload, openPage } from '../page/page.harness.ts';
import * as app from './app.ts';
import { buildLatencyTraces, listComponents } from './latency-figure.ts';

const base = { pool: [2, 3, 7], rank: [1, 5, 11], total: [3, 8, 18] };
const other = { pool: [4, 10, 22], decay: [0.5, 2, 3.5], rank: [1, 2, 3], total: [6, 13, 27] };
const arms = [
  buildHandmadeArm('base', { latency: base }),
  buildHandmadeArm('b', { latency: other }),
  buildHandmadeArm('untimed'),
];
const state = app.createApp(buildHandmadePayload(arms));

beforeAll(() => {
  openPage(1400);
  app.choose(state, { right: 1 });
});

test('what every arm ends with stands last, whatever else one of them has', () => {
  expect(listComponents(state)).toEqual(['pool', 'decay', 'rank', 'total']);
  const swapped = app.createApp(buildHandmadePayload(arms, { baseline: 1 }));
  app.choose(swapped, { right: 0 });
  expect(listComponents(swapped)).toEqual(['pool', 'decay', 'rank', 'total']);
  app.choose(swapped, { right: 2 });
  expect(listComponents(swapped)).toEqual(['pool', 'decay', 'rank', 'total']);
});

test('the dot is the median, the bar ends at p95, the diamond is p99', () => {
  const [dots, diamonds] = buildLatencyTraces(state, 1, listComponents(state));
  expect(dots).toMatchObject({
    x: [4, 0.5, 1, 6],
    y: [0, 1, 2, 3],
    error_x: { symmetric: false, array: [6, 1.5, 1, 7], arrayminus: [0, 0, 0, 0] },
    marker: { symbol: 'circle', color: '#12608f' },
  });
  expect(dots).toHaveProperty('text.1', 'b<br>decay: p50 .5000, p95 2.000, p99 3.500 ms');
  expect(diamonds).toMatchObject({ x: [22, 3.5, 3, 27], y: [0, 1, 2, 3], marker: { symbol: 'diamond-open' } });
});

test('the baseline is grey, a little below, and has no dot for a component that it lacks', () => {
  const [dots, diamonds] = buildLatencyTraces(state, 0, listComponents(state));
  expect(dots).toMatchObject({ x: [2, 1, 3], y: [0.16, 2.16, 3.16], marker: { color: '#7a756c' } });
  expect(diamonds).toMatchObject({ x: [7, 11, 18] });
});
