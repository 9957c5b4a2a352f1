import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadDataset } from '../data/registry.ts';
import { readSuperseded } from '../eval/trec/trec-files.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-corrections-'));
afterAll(() => rmSync(root, { recursive: true }));
const config = fileURLToPath(new URL('../../configs/corrections.yaml', import.meta.url));
let run: string;
const readLines = (file: string) =>
  readFileSync(join(run, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

beforeAll(async () => {
  const options = ['--set', 'dataset.conversations=20', '--set', 'evaluation.samples=199'];
  const folders = ['--cache', join(root, 'cache'), '--results', join(root, 'runs')];
  const { code, stderr } = await runRagpp('run', config, ...options, ...folders);
  expect(code, stderr).toBe(0);
  run = join(root, 'runs', readdirSync(join(root, 'runs')).find((name) => name.startsWith('corrections-')) as string);
});

test('the folder of the run has the superseded turns of its queries', async () => {
  const { superseded } = await loadDataset({ name: 'corrections', conversations: 20 });
  const kept = readSuperseded(join(run, 'superseded.tsv'));
  const ids = new Set(readLines('queries.jsonl').map(({ id }) => id));
  const expected = [...(superseded ?? [])].filter(([id, turns]) => ids.has(id) && turns.size > 0);
  expect(expected.length).toBeGreaterThan(5);
  expect(new Map(kept)).toEqual(new Map(expected));
});

test('nothing is stale before a correction; by facts less is stale after it', () => {
  const kinds = new Map(readLines('queries.jsonl').map(({ id, kind }) => [id, kind]));
  const rows = readLines('per-query.jsonl');
  const others = rows.filter(({ query }) => kinds.get(query) !== 'superseded');
  expect(others.every((row) => row['stale@5'] === 0 && row['missing-replacement@5'] === 0)).toBe(true);
  const sumStale = (name: string) =>
    rows.reduce((sum, row) => sum + (row.arm === name ? row['stale@5'] : 0), 0) as number;
  expect(sumStale('bm25')).toBeGreaterThan(0);
  expect(sumStale('two timelines')).toBeLessThan(sumStale('bm25'));
});

test('rescore gives the figures again from the folder', async () => {
  const { code, stderr } = await runRagpp('rescore', run, '--metrics', 'stale@5,correct-first@5');
  expect(code, stderr).toBe(0);
  const readArms = (file: string) => JSON.parse(readFileSync(join(run, file), 'utf8')).arms;
  const [rescored] = readdirSync(join(run, 'rescored'));
  for (const [a, arm] of readArms(`rescored/${rescored}/metrics.json`).entries())
    for (const metric of ['stale@5', 'correct-first@5'])
      expect(arm.metrics[metric].mean, arm.name).toBeCloseTo(readArms('metrics.json')[a].metrics[metric].mean, 12);
});
