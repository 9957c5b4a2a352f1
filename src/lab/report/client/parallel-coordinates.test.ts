import { beforeAll, expect, test } from 'vitest';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { openPage } from '../page/page.harness.ts';
import { buildPayload } from '../page/payload.ts';
import * as app from './app.ts';
import { buildAxisTitles, listArmLines } from './parallel-coordinates.ts';

const payload = buildPayload(inventSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 }));

beforeAll(() => openPage(1400));

test('parallel lines end at the metric, from the least at 0 to the greatest at 1', () => {
  const state = app.createApp(payload);
  const lines = listArmLines(state);
  expect(lines).toHaveLength(30);
  expect(lines.map(({ heights }) => heights.length)).toEqual(lines.map(() => 4));
  const ends = lines.map(({ heights }) => heights[3] as number);
  expect([ends[0], ends.at(-1)]).toEqual([0, 1]);
  expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  for (const { arm, heights } of lines) {
    expect(heights.slice(0, 3).map((height, factor) => Math.floor(height * ([3, 5, 2][factor] as number)))).toEqual(
      payload.arms[arm]?.levels,
    );
  }
});

test('the first and the last title stand within the figure, on two lines in turn where it is narrow', () => {
  const [first, second, last] = buildAxisTitles(['trajectory.weight', 'b', 'mrr@10']);
  expect([first, second, last]).toMatchObject([
    { text: 'trajectory.weight', xanchor: 'left', yshift: 6 },
    { xanchor: 'center', yshift: 6 },
    { xanchor: 'right', yshift: 6 },
  ]);
  openPage(420);
  expect(buildAxisTitles(['a', 'b', 'c'])).toMatchObject([{ yshift: 6 }, { yshift: 24 }, { yshift: 6 }]);
  openPage(1400);
});
