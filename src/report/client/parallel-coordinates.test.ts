import { beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../payload.ts';
import { sampleSweep } from '../sample-sweep.ts';
import * as app from './app.ts';
import { linesOf } from './parallel-coordinates.ts';

const payload = payloadOf(sampleSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 }));

// what the page's script gives to every file of it
beforeAll(() => Object.assign(globalThis, { app }));

test('parallel lines end at the metric, from the least at 0 to the greatest at 1', () => {
  const state = app.createApp(payload);
  const lines = linesOf(state);
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
