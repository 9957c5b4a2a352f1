import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { resolveConfig } from '../config/config.ts';
import { type ArmRecord, encodeArmRecord, readArmRecord, writeArmRecord } from './arm-record.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { type FinishedRun, runExperiment } from './run.ts';
import { runFiles } from './run-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-shown-'));
afterAll(() => rmSync(folder, { recursive: true }));
const bm25 = [{ search: { bm25: { k: 17 } } }];

function run(more: object): Promise<FinishedRun> {
  const evaluation = { baseline: 'bm25', samples: 199, metrics: ['mrr@10'], split: 'all', depth: 17, ...more };
  const arms = { bm25, packed: [...bm25, { pack: 40 }] };
  const config = resolveConfig({ ...buildSampleConfig(folder), evaluation, arms }, 'sample');
  return runExperiment(config, { backend: 'wasm', cacheFolder: join(folder, 'cache'), command: '' });
}

let measured: FinishedRun;
let plain: FinishedRun;
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(folder);
  measured = await run({ conservation: { k: 3 } });
  plain = await run({});
});

test('words alone are measured too, in the embeddings of the experiment', () => {
  const { arms, queries } = measured.result;
  expect(arms.map(({ name, conservation }) => [name, Object.keys(conservation?.means ?? {})])).toEqual([
    ['bm25', ['memory', 'pool', 'first']],
    ['packed', ['memory', 'pool', 'first', 'context']],
  ]);
  const { means, perQuery, k } = arms[0]?.conservation ?? {};
  expect([k, perQuery?.memory?.turns.length]).toEqual([3, queries.length]);
  expect(means?.first?.turns.mean).toBeLessThanOrEqual(3);
  expect(means?.first?.coherence.mean).toBeGreaterThan(means?.memory?.coherence.mean as number);
  expect(means?.memory?.coherence.low).toBeLessThan(means?.memory?.coherence.mean as number);
});

test('the files have the means of each arm, and the figures of each query', () => {
  const files = runFiles(measured);
  const { arms } = JSON.parse(files['metrics.json'] as string) as { arms: { conservation: object }[] };
  expect(Object.keys(arms[1]?.conservation ?? {})).toEqual(['k', 'weights', 'means']);
  const lines = (files['conservation.jsonl'] as string).trim().split('\n');
  expect(lines).toHaveLength(2 * measured.result.queries.length);
  const first = JSON.parse(lines[1] as string) as Record<string, Record<string, number>>;
  expect(Object.keys(first)).toEqual(
    ['query', 'cluster', 'timestamp', 'arm', 'memory', 'pool', 'first', 'context'], // the second line: of the arm that packs
  );
  expect(Object.keys(first.memory ?? {})).toEqual(['turns', 'magnitude', 'energy', 'coherence', 'information']);
});

test('the record of an arm keeps it', () => {
  const record = measured.records[1] as ArmRecord;
  const path = join(folder, 'packed.safetensors');
  writeArmRecord(path, record);
  expect(readArmRecord(path).conservation).toEqual(record.conservation);
  expect(readFileSync(path)).toEqual(Buffer.from(encodeArmRecord(record)));
});

test('nothing else of a run differs, and without the option nothing is measured', () => {
  const [files, bare] = [runFiles(measured), runFiles(plain)];
  expect(Object.keys(files).filter((file) => !(file in bare))).toEqual(['conservation.jsonl']);
  for (const file of ['per-query.jsonl', 'runs/bm25.trec', 'runs/packed.trec', 'strata.json'])
    expect(files[file], file).toEqual(bare[file]);
  expect(bare['config.yaml']).not.toContain('conservation');
  expect(bare['metrics.json']).not.toContain('conservation');
  expect(plain.result.arms.map(({ conservation }) => conservation)).toEqual([undefined, undefined]);
});

test('the first turns that are measured are ranked', () => {
  expect(() => run({ conservation: { k: 18 } })).toThrow(/evaluation\.depth: expected at least conservation\.k/);
});
