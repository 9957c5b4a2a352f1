import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readRunConfig, readRunSummary } from '../stored/run-summary.ts';
import { querySetOf } from './query-set.ts';
import { SAMPLE_RUN, type SampleRun, writeSampleRun } from './run-folder.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-query-set-'));
afterAll(() => rmSync(root, { recursive: true }));

function setOf(changes: Partial<SampleRun>): string {
  const folder = mkdtempSync(join(root, 'run-'));
  writeSampleRun(folder, { ...SAMPLE_RUN, ...changes });
  return querySetOf(readRunSummary(folder), readRunConfig(folder));
}
const config = (evaluation: object) => ({ ...SAMPLE_RUN.config, evaluation });

test('runs of the same data, split and number of queries have the same ones, whatever else differs', () => {
  const set = setOf({});
  expect(setOf({ hash: 'other', experiment: 'other', seed: 8, config: config({ limitQueries: null, share: 1 }) })).toBe(
    set,
  );
  expect(setOf({ dataHash: 'other' })).not.toBe(set);
  expect(setOf({ split: 'dev' })).not.toBe(set);
  expect(setOf({ queries: ['q1', 'q2'] })).not.toBe(set);
});

test('parts that are drawn in different ways are different sets, also of as many queries', () => {
  const draws = [{ limitQueries: 6 }, { limitQueries: 7 }, { share: 0.5 }, { limitQueries: 6, share: 0.5 }];
  expect(new Set(draws.map((evaluation) => setOf({ config: config(evaluation) }))).size).toBe(4);
});

test.each([[{ limitQueries: 6 }], [{ share: 0.5 }]])('a part of the queries, %j, depends on the seed', (evaluation) => {
  const drawn = (seed: number) => setOf({ seed, config: config(evaluation) });
  expect(drawn(7)).toBe(drawn(7));
  expect(drawn(7)).not.toBe(drawn(8));
});
