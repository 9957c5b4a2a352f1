import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SAMPLE_RUN, type SampleRun, writeSampleRun } from '../../lab/run/run-folder.fixture.ts';
import { readRunConfig, readRunSummary } from '../../lab/stored/run-summary.ts';
import { computeQuerySetHash } from './results.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-query-set-'));
afterAll(() => rmSync(root, { recursive: true }));

function hashSampleQuerySet(changes: Partial<SampleRun>): string {
  const folder = mkdtempSync(join(root, 'run-'));
  writeSampleRun(folder, { ...SAMPLE_RUN, ...changes });
  return computeQuerySetHash(readRunSummary(folder), readRunConfig(folder));
}
const buildEvaluationConfig = (evaluation: object) => ({ ...SAMPLE_RUN.config, evaluation });

test('runs of the same data, split and number of queries have the same ones, whatever else differs', () => {
  const set = hashSampleQuerySet({});
  expect(
    hashSampleQuerySet({
      hash: 'other',
      experiment: 'other',
      seed: 8,
      config: buildEvaluationConfig({ limitQueries: null, share: 1 }),
    }),
  ).toBe(set);
  expect(hashSampleQuerySet({ dataHash: 'other' })).not.toBe(set);
  expect(hashSampleQuerySet({ split: 'dev' })).not.toBe(set);
  expect(hashSampleQuerySet({ queries: ['q1', 'q2'] })).not.toBe(set);
});

test('parts that are drawn in different ways are different sets, also of as many queries', () => {
  const draws = [{ limitQueries: 6 }, { limitQueries: 7 }, { share: 0.5 }, { limitQueries: 6, share: 0.5 }];
  expect(
    new Set(draws.map((evaluation) => hashSampleQuerySet({ config: buildEvaluationConfig(evaluation) }))).size,
  ).toBe(4);
});

test.each([[{ limitQueries: 6 }], [{ share: 0.5 }]])('a part of the queries, %j, depends on the seed', (evaluation) => {
  const hashDrawnSet = (seed: number) => hashSampleQuerySet({ seed, config: buildEvaluationConfig(evaluation) });
  expect(hashDrawnSet(7)).toBe(hashDrawnSet(7));
  expect(hashDrawnSet(7)).not.toBe(hashDrawnSet(8));
});
