import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readQrels, readRun } from '../eval/trec/trec-files.ts';
import { setFit, writeSampleTraining } from '../lab/training/training-config.fixture.ts';
import { readWeights } from '../rank/learning/weight-file.ts';
import { runRagpp, type StoredMetrics } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-train-'));
afterAll(() => rmSync(root, { recursive: true }));
const config = writeSampleTraining(root);
const cache = join(root, 'cache');
const METHODS = ['hand-tuned', 'uniform', 'random search', 'coordinate ascent', 'learned'];

const start = (results: string, ...more: string[]) =>
  runRagpp('run', config, '--cache', cache, '--results', join(root, results), ...more);
const findTrainingFolder = (results: string) => join(root, results, readdirSync(join(root, results))[0] as string);
const read = (results: string, name: string) => readFileSync(join(findTrainingFolder(results), name), 'utf8');

let outcome: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  outcome = await start('first');
  expect(outcome.code, outcome.stderr).toBe(0);
});

describe('a training leaves', () => {
  test('every file that it promises, in a folder by its name and hash', () => {
    const names = readdirSync(findTrainingFolder('first'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('.'),
    );
    const runs = METHODS.map((method) => join('runs', `${method.replace(' ', '-')}.trec`));
    expect(names.sort()).toEqual(
      [
        'config.yaml',
        'curve.csv',
        'environment.json',
        'controls.csv',
        'importance.csv',
        'metrics.json',
        'per-query.jsonl',
        'per-query.parquet',
        'qrels.trec',
        'queries.jsonl',
        'report.html',
        ...runs,
        'strata.json',
        'table.csv',
        'table.md',
        'table.tex',
        'turns.jsonl',
        'weights-linear.safetensors',
        'weights.csv',
      ].sort(),
    );
    const { hash } = JSON.parse(read('first', 'metrics.json')) as StoredMetrics;
    expect(findTrainingFolder('first').endsWith(`sample-training-${hash}`)).toBe(true);
    expect(outcome.stdout).toContain(`report: ${join(findTrainingFolder('first'), 'report.html')}`);
    expect(outcome.stdout).toMatch(/^learned /m);
  });

  test('rankings that give the figures of the table to whoever measures them', () => {
    const { arms } = JSON.parse(read('first', 'metrics.json')) as StoredMetrics;
    const qrels = readQrels(join(findTrainingFolder('first'), 'qrels.trec'));
    const answerable = [...qrels].filter(([, judged]) => [...judged.values()].some((grade) => grade > 0));
    expect(answerable.length).toBeGreaterThan(20);
    for (const [m, { name, metrics }] of arms.entries()) {
      expect(name).toBe(METHODS[m]);
      const run = readRun(join(findTrainingFolder('first'), 'runs', `${name.replace(' ', '-')}.trec`));
      const reciprocals = answerable.map(([query, judged]) => {
        const place = (run.get(query) ?? []).slice(0, 10).findIndex(({ id }) => (judged.get(id) ?? 0) > 0);
        return place < 0 ? 0 : 1 / (place + 1);
      });
      const mean = reciprocals.reduce((sum, value) => sum + value, 0) / reciprocals.length;
      expect(metrics['mrr@10']?.mean).toBeCloseTo(mean, 12);
    }
  });

  test('weights that are those of the table of weights', () => {
    const { values, provenance } = readWeights(join(findTrainingFolder('first'), 'weights-linear.safetensors'));
    const rows = read('first', 'weights.csv').trimEnd().split('\n').slice(1);
    expect(rows.map((row) => Number(row.split(',')[4]))).toEqual([...values]);
    expect(provenance.trainingClusters.length).toBe(16);
  });
});

test('what was done is not done again, and the same bytes come of it', async () => {
  const again = await start('again');
  expect(again.code, again.stderr).toBe(0);
  for (const name of readdirSync(findTrainingFolder('first')).filter((name) => name.includes('.')))
    expect(read('again', name) === read('first', name), name).toBe(true);
  const folds = readdirSync(join(cache, 'stages', 'trained-fold'));
  expect(folds).toHaveLength(3);
});

test('is known to results and publish', async () => {
  const listed = await runRagpp('results', join(root, 'first'), '--columns', 'arm,mrr@10');
  expect(listed.stdout).toMatch(/^learned +\.?\d/m);
  const document = join(root, 'page.md');
  writeFileSync(document, '<!-- results/sample-training/table.md -->\n<!-- end of table -->\n');
  const published = await runRagpp(
    'publish',
    findTrainingFolder('first'),
    '--document',
    document,
    '--results',
    join(root, 'published'),
  );
  expect(published.code, published.stderr).toBe(0);
  expect(readFileSync(document, 'utf8')).toContain(read('first', 'table.md').trim());
});

test('another training with the same config removes the figures of the earlier one, those on the test split too', async () => {
  mkdirSync(join(root, 'trained'));
  const [name, ...others] = readdirSync(join(root, 'first'));
  expect(others).toEqual([]); // a training looks at no test split
  const folder = join(root, 'trained', name as string);
  mkdirSync(folder);
  for (const earlier of ['test.json', 'test.md', 'old.yaml']) writeFileSync(join(folder, earlier), '{}');
  const { code, stderr } = await start('trained');
  expect(code, stderr).toBe(0);
  expect(readdirSync(folder)).toEqual(readdirSync(findTrainingFolder('first')));
});

const set = (...changes: string[]) => setFit(...changes).flatMap((change) => ['--set', change]);

test.each([
  [set('mix.fit.epoch=3'), 2, /mix\.fit\.epoch.*did you mean epochs\?/],
  [['--set', 'evaluation.limitQueries=1'], 2, /limitQueries.*>= 2, got 1/],
  [['--set', 'limitQueries=9'], 2, /limitQueries \(--set\): expected evaluation\.limitQueries/],
  [set('mix.fit.model.signals=[bm26]'), 2, /model\.signals\[0\].*expected a signal of the bank, such as bm25/],
  [set('mix.fit.folds=17'), 1, /16 clusters cannot be divided into 17 folds/],
  [['--workers', '2'], 1, /takes no --workers; leave it out/],
  [['--race'], 1, /takes no --race; leave it out/],
])('%s is refused', async (changes, expected, message) => {
  const { code, stdout, stderr } = await start('refused', ...changes);
  expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
  expect(stderr).toMatch(message);
});

test('a limited number of queries', async () => {
  const without = set('mix.fit.importance=false', 'mix.fit.controls=false');
  const { code, stderr } = await start('limited', '--limit-queries', '13', ...without);
  expect(code, stderr).toBe(0);
  expect((JSON.parse(read('limited', 'metrics.json')) as StoredMetrics).queries).toBe(13);
  for (const file of ['importance.csv', 'controls.csv'])
    expect(read('limited', file).trimEnd().split('\n')).toHaveLength(1);
});

test('a fit is rescored, and its config gives the same fit again', async () => {
  const rescored = await runRagpp('rescore', findTrainingFolder('first'), '--metrics', 'mrr@3');
  expect(rescored.code, rescored.stderr).toBe(0);
  expect(rescored.stdout).toMatch(/^learned +[.\d]/m);
  const stored = join(findTrainingFolder('first'), 'config.yaml');
  const folders = ['--cache', cache, '--results', join(root, 'stored')];
  expect((await runRagpp('run', stored, ...folders)).code).toBe(0);
  expect(read('stored', 'weights.csv')).toBe(read('first', 'weights.csv'));
  expect(readdirSync(join(root, 'stored'))).toEqual(readdirSync(join(root, 'first')));
});

test('an arm that is fitted cannot be asked before', async () => {
  const { code, stderr } = await runRagpp('ask', config, '--arm', 'learned', 'the kernel patch', '--cache', cache);
  expect(code).toBe(1);
  expect(stderr).toMatch(/mix of the arm has no weights but a fit; run the config, and name the weight file/);
});
