import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeSafetensors } from '../src/core/files/safetensors.ts';
import { requirePackages } from '../src/core/required-packages.harness.ts';
import { runBenchCommand } from './command.harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-published-'));
afterAll(() => rmSync(folder, { recursive: true }));
const results = join(folder, 'results');
const made = join(folder, 'made');

const figures = {
  hash: 'aa',
  look: 2,
  arms: [{ tuned: { 'relevance.alpha': 0.5 }, 'mrr@10': 0.25, buildSeconds: 3, bytes: { text: 7 } }],
};
const renamed = {
  hash: 'bb',
  arms: [{ tuned: { 'fuse.convex.hnsw': 0.5 }, 'mrr@10': 0.25, buildSeconds: 4, bytes: { text: 8 }, ties: 1 }],
};

function writeResult(path: string, metrics: object, commit: string, weight: number): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'metrics.json'), JSON.stringify(metrics));
  writeFileSync(join(path, 'table.csv'), 'arm,mean\nbm25,0.25\n');
  writeFileSync(join(path, 'table.md'), `commit ${commit}`);
  const weights = JSON.stringify({ model: 'linear', provenance: { commit } });
  const tensors = { numbers: { shape: [2], data: Float64Array.of(1, weight) } };
  writeSafetensors(join(path, 'weights-linear.safetensors'), { tensors, metadata: { weights } });
}

function publish(name: string, command: string): string {
  const path = join(results, name);
  writeResult(path, figures, 'c1', 0.5);
  writeFileSync(join(path, 'environment.json'), JSON.stringify({ command, timings: [{ seconds: 1 }] }));
  return path;
}

const bench = (...names: string[]) => runBenchCommand('published', ...names, '--results', results, '--made', made);

test('hashes, looks, time, memory, names of tuned options and new figures are no differences; values, rows and weights are', async () => {
  publish('equal', 'ragpp run equal.yaml');
  writeResult(join(made, 'equal', 'equal-bb'), renamed, 'c2', 0.5);
  const same = await bench('equal');
  expect(same).toMatchObject({ status: 0, errors: '' });
  expect(same.output).toMatch(/^equal {2}same \(8 figures\)\n1 results: 1 same, 0 differ, 0 skipped;/);

  publish('other', 'ragpp run other.yaml');
  const run = join(made, 'other', 'other-bb');
  writeResult(run, { arms: [{ ...renamed.arms[0], tuned: { a: 0.4 } }] }, 'c2', 0.75);
  writeFileSync(join(run, 'table.csv'), 'arm,mean\nbm25,0.26\n');
  const differs = await bench('other', 'equal');
  expect(differs.status).toBe(1);
  expect(differs.output).toContain(
    'other  3 of 8 figures differ: metrics.json arms 0 tuned 0: 0.5, made now: 0.4\nequal  same (8 figures)\n',
  );
  expect(readFileSync(join(made, 'other.differences'), 'utf8').trimEnd().split('\n')).toEqual([
    'metrics.json arms 0 tuned 0: 0.5, made now: 0.4',
    'table.csv 1: "bm25,0.25", made now: "bm25,0.26"',
    'weights-linear.safetensors tensors numbers data 1: 0.5, made now: 0.75',
  ]);
  rmSync(join(run, 'table.csv'));
  expect((await bench('other')).output).toContain('other  4 of 8 figures differ: ');
});

test('without its data or a run that it reads a result is skipped; a command that fails is a difference', async () => {
  publish('absent', 'ragpp run configs/fidelity.yaml --set dataset.path=no-such.json');
  publish('reads', 'npm run experiment -- evidence --set run=results/runs/absent-0123456789ab');
  publish('stale', "ragpp run configs/fidelity.yaml --set 'seed=it'\\''s one' --arm trajectory");
  publish('ranked', 'ragpp run experiments/evidence/learned-arms.yaml');
  const { status, output } = await bench('reads', 'absent', 'stale', 'ranked');
  expect(status).toBe(1);
  expect(output).toMatch(/^absent {2}skipped: no data at no-such\.json$/m);
  expect(output).toMatch(/^reads {3}skipped: needs absent; make it first$/m);
  expect(output).toMatch(/^stale {3}failed with exit code 2: \[CONFIGURATION\]: 1 error .*got "it's one"$/m);
  expect(output).toMatch(/^ranked {2}skipped: \[CONFIGURATION\]: .*no such file or directory, open 'learned\.trec'/m);
  expect(output).toContain('4 results: 0 same, 1 differ, 3 skipped;');
});

requirePackages('DuckDB').test('a result is made with the present code', async () => {
  const path = join(results, 'records');
  cpSync(join(import.meta.dirname, '..', 'results', 'shop-records'), path, { recursive: true });
  const { status, output } = await bench('records');
  expect(output).toMatch(/^records {2}same \(140 figures\)$/m);
  expect(status).toBe(0);
});
