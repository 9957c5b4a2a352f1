import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readQrels, readRun } from '../eval/trec/trec-files.ts';
import { resolveConfig } from '../lab/config/config.ts';
import type { Environment } from '../lab/measure/result.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import type { Run } from '../model/run.ts';
import { runRagpp, type StoredMetrics } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-cli-run-'));
afterAll(() => rmSync(root, { recursive: true }));
const config = join(root, 'sample.yaml');
const cache = join(root, 'cache');
const ARMS = ['newest', 'hybrid', 'decayed-2', 'unified', 'propagated'];

const start = (results: string, ...more: string[]) =>
  runRagpp('run', config, '--cache', cache, '--results', join(root, results), ...more);
/** Of a results folder that holds one run. */
function readOnlyRun(results: string): Record<string, string> {
  const [run, ...others] = readdirSync(join(root, results));
  expect(others).toEqual(['test-looks.json']);
  const folder = join(root, results, run as string);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

let stdout: string;
let files: Record<string, string>;
let metrics: StoredMetrics;
let folder: string;

beforeAll(async () => {
  writeSampleJsonl(root);
  writeFileSync(config, JSON.stringify(buildSampleConfig(root)));
  const outcome = await start('first');
  expect(outcome.stderr).not.toContain('ragpp');
  expect(outcome.code).toBe(0);
  stdout = outcome.stdout;
  files = readOnlyRun('first');
  metrics = JSON.parse(files['metrics.json'] as string) as StoredMetrics;
  folder = join(root, 'first', readdirSync(join(root, 'first'))[0] as string);
});

describe('a run leaves', () => {
  test('every file that it promises, in a folder by its name and hash', () => {
    expect(Object.keys(files)).toEqual(
      [
        'config.yaml',
        'environment.json',
        'finished.json',
        'metrics.json',
        'per-query.jsonl',
        'per-query.parquet',
        'qrels.trec',
        'queries.jsonl',
        'report.html',
        'state.json',
        'strata.json',
        'table.csv',
        'table.md',
        'table.tex',
        'turns.jsonl',
        ...ARMS.flatMap((arm) => [join('arms', `${arm}.safetensors`), join('runs', `${arm}.trec`)]),
      ].sort(),
    );
    expect(folder.endsWith(`sample-${metrics.hash}`)).toBe(true);
    expect(stdout).toContain(`report: ${join(folder, 'report.html')}`);
  });

  test('the backend and why it was chosen, on the screen and in the environment', () => {
    const { backend, backendReason } = JSON.parse(files['environment.json'] as string) as Environment;
    expect(backendReason).toBe('named in the command or the config');
    expect(stdout).toContain(`\nbackend ${backend} (${backendReason})\n`);
  });

  test('the table on the screen and as Markdown, an arm a row', () => {
    for (const { name } of metrics.arms) {
      expect(stdout).toContain(`\n${name} `);
      expect(files['table.md']).toContain(`\n| ${name} `);
      expect(files['report.html']).toContain(name);
    }
  });

  test('the config as it ran, which runs again to the same hash', async () => {
    const resolved = parse(files['config.yaml'] as string) as Record<string, unknown>;
    const raw = buildSampleConfig(root) as Record<string, unknown>;
    expect(resolved).toEqual(JSON.parse(JSON.stringify(resolveConfig(raw, 'sample'))));
    const outcome = await runRagpp(
      'run',
      join(folder, 'config.yaml'),
      '--cache',
      cache,
      '--results',
      join(root, 'again'),
    );
    expect(outcome.code).toBe(0);
    expect(readdirSync(join(root, 'again'))).toEqual([`sample-${metrics.hash}`, 'test-looks.json']);
  });

  test('the command that somebody else would type', async () => {
    const typed = await start(
      'typed',
      '--set',
      'seed=9',
      '--set',
      'description=on wasm',
      '--backend',
      'wasm',
      '--profile',
    );
    expect(typed.stdout).toMatch(
      /\nstage +seconds +garbage collection +launches +bytes read back +computed +from memory +from disk\n(?:.*\n)*decay +\d*\.\d\d +\d*\.\d\d +[1-9]\d* +[1-9]/,
    );
    const typedFiles = readOnlyRun('typed');
    const { command, seed, backend } = JSON.parse(typedFiles['environment.json'] as string);
    expect(command).toMatch(/^ragpp run .*sample\.yaml --set seed=9 --set 'description=on wasm' --backend wasm$/);
    expect({ seed, backend }).toEqual({ seed: 9, backend: 'wasm' });
    expect(typedFiles['profile/main.cpuprofile']).toMatch(/"url":"[^"]*\/src\/\w+\/.*"samples":\[\d+,\d+/);
    const [header, ...rows] = (typedFiles['profile/stages.csv'] as string).trim().split('\n');
    expect(header).toBe('stage,seconds,garbage collection,launches,bytes read back,computed,from memory,from disk');
    expect(rows.find((row) => row.startsWith('decay,'))).toMatch(
      /^decay,[\d.e-]+,[\d.e-]+,[1-9]\d*,[1-9]\d*,\d+,\d+,\d+$/,
    );
  });
});

describe('a look at the test split', () => {
  const sentence = (text: string | undefined) => /Look \d+ at the test split of jsonl \(.*?\)\./.exec(text ?? '')?.[0];
  const readLooks = () =>
    (JSON.parse(readFileSync(join(root, 'looks', 'test-looks.json'), 'utf8')) as { looks: { run: string }[] }).looks;

  test('is in every table and report of the run, also of the stored run, which is not looked at again', async () => {
    const { look } = JSON.parse(files['metrics.json'] as string);
    expect(look).toEqual({ dataset: 'jsonl', number: 1, numberAtQueries: 1, queries: 14 });
    const said = 'Look 1 at the test split of jsonl (14 test queries).';
    for (const text of [stdout, files['table.md'], files['table.tex'], files['report.html']])
      expect(sentence(text)).toBe(said);
    const before = readFileSync(join(root, 'first', 'test-looks.json'), 'utf8');
    for (const command of [
      ['rescore', folder, '--metrics', 'mrr@3'],
      ['table', folder],
      ['compare', folder, folder],
    ])
      expect(sentence((await runRagpp(...command)).stdout.replaceAll(/\s+/g, ' ')), command[0]).toBe(said);
    expect(readFileSync(join(root, 'first', 'test-looks.json'), 'utf8')).toBe(before);
  });

  test('is one for a run, however often it is made, and none on dev', async () => {
    const change = (seed: number) => ['--set', `seed=${seed}`, '--arm', 'newest'];
    const numbers: (string | undefined)[] = [];
    for (const seed of [1, 2, 1]) numbers.push(sentence((await start('looks', ...change(seed))).stdout));
    expect(numbers.map((said) => said?.slice(0, 'Look 1'.length))).toEqual(['Look 1', 'Look 2', 'Look 1']);
    const dev = await start('looks', ...change(1), '--set', 'evaluation.split=dev');
    expect({ code: dev.code, said: sentence(dev.stdout) }).toEqual({ code: 0, said: undefined });
    expect(readLooks()).toHaveLength(2);
    const few = await start('looks', ...change(1), '--limit-queries', '5');
    expect(sentence(few.stdout)).toMatch(/^Look 3 at .* test queries, look 1 at these queries\)\.$/);
    expect(readLooks().every(({ run }) => existsSync(join(root, 'looks', run)))).toBe(true);
  });
});

/** Relevant turns are those of grade 1; rankings are in order. Queries without one are left out. */
describe('the metrics are those of the TREC files, read back', () => {
  const runs = new Map<string, Run>();
  let relevant: [query: string, turns: ReadonlySet<string>][];
  beforeAll(() => {
    for (const [i, { name }] of metrics.arms.entries())
      runs.set(name, readRun(join(folder, 'runs', `${ARMS[i]}.trec`)));
    relevant = [...readQrels(join(folder, 'qrels.trec'))].map(([id, grades]) => [id, new Set(grades.keys())]);
  });

  /** The mean over queries of a formula of the places, from 1, at which relevant turns stand. */
  const mean = (arm: string, formula: (places: readonly number[]) => number) => {
    const values = relevant.map(([id, turns]) => {
      const ranking = runs.get(arm)?.get(id) ?? [];
      return formula(ranking.flatMap((turn, i) => (turns.has(turn.id) ? [i + 1] : [])));
    });
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };

  test.each([
    ['mrr@10', (places: readonly number[]) => ((places[0] ?? 11) <= 10 ? 1 / (places[0] as number) : 0)],
    ['recall@5', (places: readonly number[]) => places.filter((place) => place <= 5).length],
    [
      'ndcg@10',
      (places: readonly number[]) => ((places[0] ?? 11) <= 10 ? 1 / Math.log2(1 + (places[0] as number)) : 0),
    ],
    ['map', (places: readonly number[]) => (places[0] === undefined ? 0 : 1 / places[0])],
  ])('%s', (metric, formula) => {
    expect(relevant).toHaveLength(metrics.queries);
    const baseline = mean('hybrid', formula);
    for (const { name, metrics: figures, comparisons } of metrics.arms) {
      const expected = mean(name, formula);
      expect(figures[metric]?.mean).toBeCloseTo(expected, 12);
      expect(comparisons?.[metric]?.difference.mean ?? 0).toBeCloseTo(expected - baseline, 12);
    }
    expect(baseline).toBeGreaterThan(0);
  });

  test('and so are those of each query', () => {
    const rows = (files['per-query.jsonl'] as string)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(metrics.queries * ARMS.length);
    for (const row of rows) {
      const turns = new Map(relevant).get(row.query) as ReadonlySet<string>;
      const place = (runs.get(row.arm)?.get(row.query) ?? []).findIndex(({ id }) => turns.has(id)) + 1;
      expect(row.map).toBeCloseTo(place === 0 ? 0 : 1 / place, 12);
    }
  });
});

test('the same config gives the same files, byte for byte, and embeds nothing the second time', async () => {
  const { code, stderr } = await start('second');
  expect(code).toBe(0);
  expect(stderr.match(/texts from the cache/g)).toHaveLength(2);
  expect(stderr).not.toMatch(/texts embedded|singular vectors/);
  const again = readOnlyRun('second');
  expect(Object.keys(again)).toEqual(Object.keys(files));
  for (const [name, text] of Object.entries(files))
    if (!/^(environment\.json|finished\.json|report\.html|arms)/.test(name)) expect(again[name], name).toBe(text);
});

test.each([
  ['another seed', 'seed=4'],
  ['an override', 'arms.unified.set={blend.unified.weight: 0.7}'],
])('%s changes the hash, and leaves the first run alone', async (_, override) => {
  const before = readFileSync(join(folder, 'metrics.json'), 'utf8');
  const { code } = await start('first', '--set', override);
  expect(code).toBe(0);
  const runs = readdirSync(join(root, 'first')).filter((name) => name.startsWith('sample-'));
  expect(runs).toContain(`sample-${metrics.hash}`);
  const other = runs.find((name) => name !== `sample-${metrics.hash}`) as string;
  rmSync(join(root, 'first', other), { recursive: true });
  expect(other).toMatch(/^sample-[0-9a-f]{12}$/);
  expect(readFileSync(join(folder, 'metrics.json'), 'utf8')).toBe(before);
  expect(existsSync(folder)).toBe(true);
});

test('on several datasets it leaves a run for each, and a table over both', async () => {
  const { dataset, arms, ...rest } = buildSampleConfig(root) as { dataset: object; arms: { newest: object } };
  const several = join(root, 'several.yaml');
  const evaluation = { baseline: 'newest', metrics: ['mrr@10'], samples: 199 };
  writeFileSync(
    several,
    JSON.stringify({ ...rest, evaluation, arms: { newest: arms.newest }, datasets: { here: dataset, there: dataset } }),
  );
  const results = join(root, 'several');
  const outcome = await runRagpp('run', several, '--cache', cache, '--results', results);
  expect(outcome.code).toBe(0);
  expect(outcome.stdout).toMatch(/mrr@10 +here +there +mean\n/);
  const names = readdirSync(results).map((name) => name.replace(/-[0-9a-f]{12}/, ''));
  expect(names.sort()).toEqual([
    ...['sample-datasets.csv', 'sample-datasets.md', 'sample-here', 'sample-there', 'test-looks.json'],
  ]);
  expect(outcome.stdout).toMatch(
    /counted once\. Look 1 at the test split of jsonl .*\. Look [12] at the test split of jsonl /,
  );
});
