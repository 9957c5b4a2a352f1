import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SAMPLE_RUN, writeSampleRun } from '../run/run-folder.fixture.ts';
import { listResultRows } from './result-rows.ts';
import { readRunSummary } from './run-summary.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-rows-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a row an arm with the run, the metrics, levels and tuned values; a failed arm has its message', () => {
  writeSampleRun(folder, { ...SAMPLE_RUN, tuned: { cosine: { 'decay.halfLifeHours': 48, sources: ['a'] } } });
  const [bm25, cosine, broken, hopeless] = listResultRows(readRunSummary(folder)).map((row) => Object.fromEntries(row));
  const run = {
    run: folder,
    experiment: 'ladder',
    hash: 'a1b2c3d4e5f6',
    dataset: 'threads',
    split: 'test',
    data: '0aaeb0ad6b7b1c65',
    queries: 6,
    version: '0.1.0',
    commit: 'abcdef0',
    date: '2026-01-31T23:59:59Z',
    backend: 'wasm',
    cpu: 'Imaginary CPU',
    seed: 7,
    command: 'ragpp run ladder.yaml',
  };
  expect(cosine).toEqual({
    ...run,
    arm: 'cosine',
    status: 'finished',
    baseline: false,
    control: null,
    unjudged: 3,
    'level.weight': '0.5',
    'tuned.decay.halfLifeHours': 48,
    'tuned.sources': '["a"]',
    'mrr@10': 3.25 / 6,
    'mrr@10.low': 3.25 / 6 - 0.1,
    'mrr@10.high': 3.25 / 6 + 0.1,
    'mrr@10.difference': 3.25 / 6 - 0.4,
    'mrr@10.p': 0.04,
    'mrr@10.verdict': 'better',
  });
  expect(bm25).toMatchObject({ arm: 'bm25', baseline: true, 'mrr@10': 2.75 / 6, 'mrr@10.difference': null });
  expect(broken).toEqual({ ...run, arm: 'broken', status: 'failed', message: 'NOT_FINITE: score is not finite: NaN' });
  expect(hopeless).toEqual({ ...run, arm: 'hopeless', status: 'stopped', message: 'after 2 queries, mrr@10 0.25' });
});
