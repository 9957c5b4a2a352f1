import { beforeAll, expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload, openPage } from '../page/page.harness.ts';
import * as app from './app.ts';
import { buildBarTrace, describeGains, listGainBars } from './gains-figure.ts';

const arms = [
  buildHandmadeArm('base', { perQuery: [[0.5, 0.25, 1]] }),
  buildHandmadeArm('b', { perQuery: [[0.125, 1, 1]] }),
];
const state = app.createApp(buildHandmadePayload(arms));

beforeAll(() => openPage(1400));

test('a bar is the arm minus the baseline, greatest gain first', () => {
  expect(listGainBars(state)).toEqual([
    { query: 1, gain: 0.75 },
    { query: 2, gain: 0 },
    { query: 0, gain: -0.375 },
  ]);
  expect(describeGains(listGainBars(state))).toBe('1 queries gain, 1 lose, 1 stay; mean +.125.');
});

test('gains and losses have the colours of better and worse, and lead to their query', () => {
  const { marker, ...trace } = buildBarTrace(state, listGainBars(state)) as { marker: { color: string[] } };
  expect(trace).toMatchObject({
    x: [1, 2, 3],
    y: [0.75, 0, -0.375],
    customdata: [1, 2, 0],
    text: ['+.750  What is &lt;b&gt;?', '.000  What is &lt;c&gt;?', '−.375  What is &lt;a&gt;?'],
  });
  expect([marker.color[0], marker.color[2]]).toEqual(['#12608f', '#ad4513']);
});

test('where less is better, a gain is below 0', () => {
  const lower = app.createApp(buildHandmadePayload(arms, { metrics: ['stale@10'], signs: [-1] }));
  const bars = listGainBars(lower);
  expect(bars.map(({ gain }) => gain)).toEqual([-0.375, 0, 0.75]);
  expect(describeGains(bars, -1)).toBe('1 queries gain, 1 lose, 1 stay; mean +.125.');
  const { marker } = buildBarTrace(lower, bars) as { marker: { color: string[] } };
  expect([marker.color[0], marker.color[2]]).toEqual(['#12608f', '#ad4513']);
});
