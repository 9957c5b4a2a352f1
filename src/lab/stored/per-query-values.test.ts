import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { SAMPLE_RUN, writeSampleRun } from '../run/run-folder.fixture.ts';
import { readPerQuery } from './per-query-values.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-per-query-'));
afterAll(() => rmSync(folder, { recursive: true }));

const writeValueLines = (...rows: readonly object[]) =>
  writeFileSync(join(folder, 'per-query.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

test('queries, clusters and a column an arm and metric, in the order of the file', () => {
  writeSampleRun(folder, SAMPLE_RUN);
  const { queries, clusters, values } = readPerQuery(folder);
  expect(queries).toEqual(['q1', 'q2', 'q3', 'q4', 'q5', 'q6']);
  expect(clusters).toEqual(['c0', 'c0', 'c1', 'c1', 'c2', 'c2']);
  expect([...values.keys()]).toEqual(['bm25', 'cosine']);
  expect(values.get('cosine')?.get('mrr@10')).toEqual([0.5, 0.5, 1, 0.25, 0.5, 0.5]);
});

test('the last line may lack its line feed', () => {
  writeSampleRun(folder, SAMPLE_RUN);
  const whole = readPerQuery(folder);
  const path = join(folder, 'per-query.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').trimEnd());
  expect(readPerQuery(folder)).toEqual(whole);
});

test('an arm that lacks a query or has one twice, and a line that holds no values, are refused', () => {
  const buildValueRow = (query: string, arm: string) => ({ query, cluster: 'c', arm, 'mrr@10': 1 });
  const path = join(folder, 'per-query.jsonl');
  const incomplete = new ValidationError(
    `${path} does not have every query once for arm: b; run the experiment again`,
    { path, arm: 'b' },
  );
  writeValueLines(buildValueRow('q1', 'a'), buildValueRow('q1', 'b'), buildValueRow('q2', 'a'));
  expect(() => readPerQuery(folder)).toThrow(incomplete);
  writeValueLines(buildValueRow('q1', 'a'), buildValueRow('q1', 'b'), buildValueRow('q1', 'b'));
  expect(() => readPerQuery(folder)).toThrow(incomplete);
  writeValueLines(buildValueRow('q1', 'a'), { ...buildValueRow('q2', 'a'), 'mrr@10': 'one' });
  expect(() => readPerQuery(folder)).toThrow(
    /line has no values of a query: .*per-query\.jsonl:2; run the experiment again$/,
  );
  rmSync(join(folder, 'per-query.jsonl'));
  expect(() => readPerQuery(folder)).toThrow(StorageError);
});
