import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromTurns, type QueryInput, type TurnInput } from '../data/memory/from-turns.ts';
import { loadDataset } from '../data/registry.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { readRunSummary } from '../lab/stored/run-summary.ts';
import { type ExperimentInput, experiment } from '../lab/workbench/experiment.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-cli-experiment-'));
afterAll(() => rmSync(root, { recursive: true }));

/** The two arms of the sample that differ most: tuned, and with attention. */
function buildInput(data: ExperimentInput['data']): ExperimentInput {
  const { dataset: _, embedding, evaluation, ...rest } = buildSampleConfig(root) as Record<string, unknown>;
  const { baseline, metrics, ...others } = evaluation as Record<string, unknown>;
  return { ...rest, data, encoder: embedding, baseline, metrics, evaluation: others } as unknown as ExperimentInput;
}

function readFolder(results: string): ReadonlyMap<string, string> {
  const [run] = readdirSync(join(root, results)) as [string];
  const folder = join(root, results, run);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
  return new Map([...names.sort()].map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

/** Files that hold times or the command: the environment, the records with their seconds, the page, a line below the table. */
const TIMED = /^(environment\.json|report\.html|table\.md|arms\/)/;

let files: ReadonlyMap<string, string>;
beforeAll(async () => {
  writeSampleJsonl(root);
  const config = join(root, 'sample.yaml');
  writeFileSync(config, JSON.stringify(buildSampleConfig(root)));
  const { code, stderr } = await runRagpp(
    'run',
    config,
    '--cache',
    join(root, 'cache'),
    '--results',
    join(root, 'yaml'),
  );
  expect(code, stderr).toBe(0);
  const { 'finished.json': _, ...left } = Object.fromEntries(readFolder('yaml')); // of the command alone
  files = new Map(Object.entries(left));
});

test.each([
  ['the options of a dataset', () => Promise.resolve({ name: 'jsonl', path: root } as const)],
  ['a loaded dataset', () => loadDataset({ name: 'jsonl', path: root })],
])('experiment() on %s leaves the folder of ragpp run, byte for byte', async (_, load) => {
  const results = mkdtempSync(join(root, 'saved-'));
  const finished = await experiment(buildInput(await load())).run();
  await finished.save(results);
  const saved = readFolder(results.slice(root.length + 1));
  expect([...saved.keys()]).toEqual([...files.keys()]);
  const compared = [...files.keys()].filter((name) => !TIMED.test(name));
  expect(compared).toEqual(expect.arrayContaining(['config.yaml', 'metrics.json', 'runs/unified.trec', 'state.json']));
  for (const name of compared) expect(saved.get(name), name).toBe(files.get(name));
});

test('experiment() on the same rows in memory gives the same rankings and figures', async () => {
  const read = (name: string) =>
    readFileSync(join(root, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
  const qrels: Record<string, Record<string, number>> = {};
  for (const line of readFileSync(join(root, 'qrels.txt'), 'utf8').trim().split('\n')) {
    const [query = '', , turn = '', grade] = line.split(' ');
    qrels[query] = { ...qrels[query], [turn]: Number(grade) };
  }
  const data = fromTurns(read('turns.jsonl') as TurnInput[], read('queries.jsonl') as QueryInput[], qrels);
  const results = mkdtempSync(join(root, 'memory-'));
  const finished = await experiment(buildInput(data)).run();
  const summary = readRunSummary(await finished.save(results));
  const saved = readFolder(results.slice(root.length + 1));
  const compared = [...files.keys()].filter((name) => /\.trec$|per-query\.jsonl|strata\.json/.test(name));
  expect(compared.length).toBeGreaterThan(6);
  for (const name of compared) expect(saved.get(name), name).toBe(files.get(name));
  expect(summary.arms.map(({ metrics }) => metrics)).toEqual(
    (JSON.parse(files.get('metrics.json') as string) as { arms: { metrics: unknown }[] }).arms.map(
      ({ metrics }) => metrics,
    ),
  );
});
