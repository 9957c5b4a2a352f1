import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { noteProgress } from '../../core/terminal/progress.harness.ts';
import { SAMPLE_RUN, type SampleRun, writeSampleRun } from '../run/run-folder.fixture.ts';
import { compareStoredPairs } from './run-comparison.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-pairs-'));
afterAll(() => rmSync(root, { recursive: true }));
const [a, b] = [join(root, 'a'), join(root, 'b')];
const options = { metrics: null, arms: null, test: 't' } as const;
const queries = Array.from({ length: 22 }, (_, q) => `q${q}`);

/** Eleven conversations: `good` is better than the two others by about the same amount in each. */
const arms = {
  low: queries.map((_, q) => (q % 5) / 10),
  near: queries.map((_, q) => ((q + 1) % 5) / 10),
  good: queries.map((_, q) => (q % 5) / 10 + 0.4 + (q % 3) / 100),
};
const run: SampleRun = { ...SAMPLE_RUN, queries, arms };
beforeEach(() => rmSync(root, { recursive: true, force: true }));

test('every pair of arms is compared, clustered by conversation', () => {
  writeSampleRun(a, run);
  const { stages, progress } = noteProgress();
  const { pairs, ...facts } = compareStoredPairs([a], options, progress);
  expect(stages).toEqual([['statistics', 1, 1]]);
  expect(facts).toEqual({
    runs: ['ladder a1b2c3d4e5f6'],
    arms: ['low', 'near', 'good'],
    metrics: ['mrr@10'],
    statistics: { samples: 10_000, level: 0.95, test: 't', correction: 'holm' },
    queries: 22,
    conversations: 11,
    looks: [],
    seeds: 1,
  });
  expect(pairs['mrr@10']?.beaten).toEqual([[], [], [0, 1]]);
  expect(pairs['mrr@10']?.groups).toEqual([[2], [1, 0]]);
});

test('null controls are compared only where they are named', () => {
  writeSampleRun(a, { ...run, controls: { near: { of: 'low', kind: 'x' } } });
  expect(compareStoredPairs([a], options).arms).toEqual(['low', 'good']);
  expect(compareStoredPairs([a], { ...options, arms: ['near', 'good'] }).arms).toEqual(['near', 'good']);
});

test('arms of two runs are paired by query, whatever the order of the queries', () => {
  writeSampleRun(a, run);
  const reversed = Object.fromEntries(Object.entries(arms).map(([name, values]) => [name, values.toReversed()]));
  writeSampleRun(b, { ...run, queries: queries.toReversed(), arms: reversed });
  const { arms: names, pairs } = compareStoredPairs([a, b], { ...options, metrics: ['RR@10'] });
  expect(names).toEqual(['A: low', 'A: near', 'A: good', 'B: low', 'B: near', 'B: good']);
  const same = pairs['mrr@10']?.pairs.filter(({ first, second }) => second === first + 3) ?? [];
  expect(same.map(({ difference, p }) => [difference, p])).toEqual([
    [0, 1],
    [0, 1],
    [0, 1],
  ]);
});

test('the number of seeds is that of the compared arms', () => {
  writeSampleRun(a, { ...run, seeds: { near: 5 } });
  expect(compareStoredPairs([a], options).seeds).toBe(5);
  expect(compareStoredPairs([a], { ...options, arms: ['low', 'good'] }).seeds).toBe(1);
});

test('runs on other data, or with another definition, are refused', () => {
  writeSampleRun(a, run);
  writeSampleRun(b, { ...run, dataHash: 'another' });
  expect(() => compareStoredPairs([a, b], options)).toThrow(/^runs make no pairs: the data differ, .*; name two runs/);
  writeSampleRun(b, { ...run, passports: { 'mrr@10': { cutoff: 5 } } });
  writeSampleRun(a, { ...run, passports: { 'mrr@10': { cutoff: 10 } } });
  expect(() => compareStoredPairs([a, b], options)).toThrow(
    'runs have different definitions of the metric: mrr@10; rescore one of them',
  );
});
