import { beforeAll, expect, test } from 'vitest';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { buildHamSeries } from './ham-series.ts';
import type { OutcomeSeries } from './outcome-series.ts';
import { priorCalibrationSettings } from './settings.ts';

let all: OutcomeSeries;
let firsts: OutcomeSeries;
beforeAll(async () => {
  const series = await buildHamSeries(priorCalibrationSettings.parse({ everyMail: 19 }), ignoreProgress);
  [all, firsts] = [series.ham, series['ham, no near-duplicates']];
});

test('holds ham and spam of the dates, in time order', () => {
  expect(new Set(all.turns.map(({ outcome }) => outcome))).toEqual(new Set([0, 1]));
  const times = all.turns.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times[0]).toBeGreaterThanOrEqual(Date.UTC(2002, 6));
  expect(times.at(-1)).toBeLessThan(Date.UTC(2003, 0));
  expect(all.facts['left out: of other dates']).toBeGreaterThan(0);
});

test('every cluster is dev or test as a whole, and dev ones begin first', () => {
  const dev = new Set(all.turns.filter((turn) => turn.dev).map(({ cluster }) => cluster));
  const rest = all.turns.filter((turn) => !turn.dev);
  expect(rest.length).toBeGreaterThan(10);
  expect(rest.filter(({ cluster }) => dev.has(cluster))).toEqual([]);
  const start = Math.min(...rest.map(({ timestamp }) => timestamp));
  for (const cluster of dev)
    expect(all.turns.find((turn) => turn.cluster === cluster)?.timestamp).toBeLessThanOrEqual(start);
});

test('near-duplicates share the cluster of the first one, which alone stays without them', () => {
  const kept = new Set(firsts.turns.map(({ id }) => id));
  const copies = all.turns.filter(({ id }) => !kept.has(id));
  expect(copies.length).toBe(all.facts['near-duplicates']);
  expect(copies.length).toBeGreaterThan(0);
  const clusters = new Set(firsts.turns.map(({ cluster }) => cluster));
  expect(copies.filter(({ cluster }) => !clusters.has(cluster))).toEqual([]);
});
