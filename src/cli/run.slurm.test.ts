import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { findSlurmObstacle, useSlurm } from '../lab/launch/slurm.harness.ts';
import { useTaskShell } from '../lab/launch/task-shell.harness.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const obstacle = findSlurmObstacle();
if (obstacle !== null) process.stderr.write(`run.slurm.test: skipped, ${obstacle}\n`);

const root = mkdtempSync(join(tmpdir(), 'ragpp-run-slurm-'));
afterAll(() => rmSync(root, { recursive: true, maxRetries: 5 }));
const config = join(root, 'sample.yaml');
const start = (name: string, ...more: string[]) => runConfig(name, config, ...more);
const runConfig = (name: string, file: string, ...more: string[]) =>
  runRagpp('run', file, '--cache', join(root, `${name}-cache`), '--results', join(root, name), ...more);

function listRunFiles(name: string, kind: RegExp): [string, string][] {
  const folder = join(root, name, readdirSync(join(root, name))[0] as string);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => kind.test(file));
  return files.sort().map((file) => [file, readFileSync(join(folder, file), 'utf8')]);
}

describe.skipIf(obstacle !== null)('a run on a cluster of its own', () => {
  useSlurm(() => {
    writeSampleJsonl(root);
    writeFileSync(
      config,
      JSON.stringify({ ...buildSampleConfig(root), launcher: { name: 'slurm', pollSeconds: 0.5 } }),
    );
  });

  test('finds what a process of this machine finds, byte for byte, also with an arm that fails', {
    timeout: 180_000,
  }, async () => {
    const failing = 'arms.propagated.set={bm25: {k: 17, variant: bm25l, k1: 1.7e308}}';
    const [there, here] = [
      await start('there', '--set', failing, '--workers', '2'),
      await start('here', '--set', failing, '--launcher', 'local'),
    ];
    expect(there.code, there.stderr).toBe(1);
    expect(here.code).toBe(1);
    expect(there.stderr).toMatch(/^ragpp: arm propagated failed \[NOT_FINITE\]/m);
    const lasting = /^(metrics\.json|per-query\.jsonl|config\.yaml|runs.*\.trec)$/;
    expect(listRunFiles('there', lasting)).toEqual(listRunFiles('here', lasting));
    const [[, script] = []] = listRunFiles('there', /job\.sh$/);
    expect(script).toContain('#SBATCH --array=0-4%2\n');
    expect(listRunFiles('there', /\.log$/)).toHaveLength(5);
  });
});

describe('the tasks of an array', () => {
  (obstacle === null ? useSlurm : useTaskShell)();
  const plugins = fileURLToPath(new URL('../../examples/plugins/experiment.yaml', import.meta.url));
  const only = ['--set', 'only=[words, best of two]', '--backend', 'cpu'];

  test('import the plugins of a config, and rank as this process does', async () => {
    const slurm = ['--set', 'launcher={name: slurm, pollSeconds: 0.3}'];
    const there = await runConfig('plugins-there', plugins, ...only, ...slurm);
    expect(there.code, there.stderr).toBe(0);
    const here = await runConfig('plugins-here', plugins, ...only);
    expect(here.code, here.stderr).toBe(0);
    const lasting = /^(metrics\.json|per-query\.jsonl|runs.*\.trec)$/;
    expect(listRunFiles('plugins-there', lasting)).toEqual(listRunFiles('plugins-here', lasting));
    expect(listRunFiles('plugins-there', /\.log$/)).toHaveLength(2);
  });

  test('refuse a plugin whose code is not that of the run', async () => {
    const module = join(root, 'changing.mjs');
    const write = (value: number) =>
      writeFileSync(
        module,
        `export default { name: 'changing', version: 1, metrics: [{ name: 'changing', description: 'd', compute: () => ${value} }] };\n`,
      );
    write(0);
    writeSampleJsonl(root);
    const file = join(root, 'changing.yaml');
    const setup = `echo '// now of another value' >> ${module}; sed -i 's/ => 0/ => 1/' ${module}`;
    writeFileSync(
      file,
      JSON.stringify({
        ...{ name: 'changing', backend: 'cpu', plugins: [module], dataset: { name: 'jsonl', path: root } },
        ...{
          embedding: { encoder: 'lsa', dimension: 13 },
          launcher: { name: 'slurm', pollSeconds: 0.3, setup: [setup] },
        },
        evaluation: { baseline: 'words', metrics: ['changing@3'], samples: 499 },
        arms: { words: [{ search: { bm25: {} } }] },
      }),
    );
    const { code, stderr } = await runConfig('changing', file);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\[PROCESS_DIED\]: every arm failed, .*plugins\[0\]\.hash: expected the code of the run/);
  });
});
