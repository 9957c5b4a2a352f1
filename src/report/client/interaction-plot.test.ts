import { beforeAll, expect, test } from 'vitest';
import { payloadOf } from '../payload.ts';
import { sampleSweep } from '../sample-sweep.ts';
import * as app from './app.ts';
import { seriesOf } from './interaction-plot.ts';
import * as sweep from './sweep.ts';

const payload = payloadOf(sampleSweep(11, { levels: [3, 5, 2], threads: 7, turnsAThread: 5, top: 5 }));

// what the page's script gives to every file of it
beforeAll(() => Object.assign(globalThis, { app, sweep }));

test('lines of the interaction plot are the levels of a factor, or one of all arms', () => {
  const state = app.createApp(payload);
  const series = seriesOf(state);
  expect(series.map(({ name, points }) => [name, points.length])).toEqual([
    ['1', 3],
    ['3', 3],
    ['5', 3],
    ['7', 3],
    ['9', 3],
  ]);
  expect(series[3]?.points[2]?.arms).toEqual(sweep.armsAt(state, 2, 3));
  app.choose(state, { by: -1 });
  expect(seriesOf(state).map(({ points }) => points.map((point) => point?.arms.length))).toEqual([[10, 10, 10]]);
});
