import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { Environment, ExperimentResult } from '../lab/measure/result.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-cli-plugins-'));
afterAll(() => rmSync(root, { recursive: true }));
const config = fileURLToPath(new URL('../../examples/plugins/experiment.yaml', import.meta.url));

async function runWith(results: string, ...more: string[]): Promise<(name: string) => string> {
  const common = ['--cache', join(root, `cache of ${results}`), '--results', join(root, results), '--backend', 'cpu'];
  const { code, stderr } = await runRagpp('run', config, ...common, ...more);
  expect(code, stderr).toBe(0);
  const [run] = readdirSync(join(root, results)) as [string];
  return (name) => readFileSync(join(root, results, run, name), 'utf8');
}

test('workers import the plugins of a config, and rank as this process does', async () => {
  const here = await runWith('here');
  const workers = await runWith('workers', '--workers', '2');
  for (const file of ['metrics.json', 'runs/best-of-two.trec', 'runs/letters.trec', 'config.yaml'])
    expect(workers(file), file).toBe(here(file));
  const { plugins } = JSON.parse(workers('environment.json')) as Environment;
  expect(plugins?.map(({ module }) => module)).toContain('examples/plugins/signal.ts');
  for (const read of [here, workers]) {
    const { timings, stages } = JSON.parse(read('environment.json')) as ExperimentResult;
    const ofParts = timings.filter(({ stage }) => ['arms', 'remarks'].includes(stage)).map(({ launches }) => launches);
    expect(ofParts[0]).toBeGreaterThan(0);
    const ofStages = Object.values(stages).map(({ launches }) => launches);
    expect(ofParts.reduce((sum, count) => sum + count)).toBe(ofStages.reduce((sum, count) => sum + count));
  }
});

test("ragpp rescore takes the metrics of a run's plugins", async () => {
  const folder = join(root, 'here', readdirSync(join(root, 'here'))[0] as string);
  const { code, stdout, stderr } = await runRagpp('rescore', folder, '--metrics', 'mean-grade@2,mrr@10');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('by plugin graded-metric 1');
});

test('ragpp config show knows the members of plugins', async () => {
  const { code, stdout } = await runRagpp('config', 'show', config, '--cache', join(root, 'cache'));
  expect(code).toBe(0);
  expect(stdout).toContain('form.similar-length');
});

test('ragpp ask knows the members of plugins', async () => {
  const common = ['--cache', join(root, 'cache'), '--backend', 'cpu', '--json'];
  const { code, stdout, stderr } = await runRagpp('ask', config, '--arm', 'letters', 'a question', ...common);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).ranking.length).toBeGreaterThan(0);
});
