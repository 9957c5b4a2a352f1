import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { slurm } from './launcher.ts';
import { formatArrayScript } from './slurm.ts';

const root = mkdtempSync(join(tmpdir(), "it's 5 % of $HOME-"));
afterAll(() => rmSync(root, { recursive: true }));

/** A program that writes down its arguments. */
const main = join(root, 'program.mjs');
writeFileSync(
  main,
  `import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(join(root, 'arguments.json'))}, JSON.stringify([process.env.GREETING, ...process.argv.slice(2)]));`,
);

const arms = ['plain', "it's", '+ IRCP, directed × 2', '$(false) `false` "a" \\', 'a=b | c=-1.5'];
const job: Parameters<typeof formatArrayScript>[0] = {
  folder: root,
  cacheFolder: join(root, 'cache'),
  backend: 'wasm',
  arms,
  program: { main, nodeOptions: ['--no-warnings'] },
};
const formatSampleScript = (options: object = {}) =>
  formatArrayScript(job, join(root, 'slurm'), slurm.options.parse({ name: 'slurm', ...options }));
const listScriptDirectives = (text: string) => text.split('\n').filter((line) => line.startsWith('#SBATCH'));

test.each(arms.map((arm, task) => [task, arm] as const))('task %i is the arm %s, whatever its letters', (task, arm) => {
  const path = join(root, 'job.sh');
  writeFileSync(path, formatSampleScript({ setup: ['export GREETING="good day"'] }));
  execFileSync('sh', [path], { env: { ...process.env, SLURM_ARRAY_TASK_ID: String(task) } });
  const given = JSON.parse(readFileSync(join(root, 'arguments.json'), 'utf8'));
  expect(given).toEqual(['good day', 'arm', root, '--backend', 'wasm', '--cache', join(root, 'cache'), '--arm', arm]);
});

test('what is not said is left to the cluster', () => {
  expect(listScriptDirectives(formatSampleScript())).toEqual([
    '#SBATCH --job-name=ragpp',
    '#SBATCH --array=0-4',
    `#SBATCH --chdir=${process.cwd()}`,
    `#SBATCH --output="${root.replace('%', '%%')}/slurm/%A_%a.log"`,
    '#SBATCH --no-requeue',
  ]);
});

test('what is said comes over, further options last', () => {
  const options = { workers: 2, partition: 'p', account: 'a b', time: '1-12', memory: '8G', cpusPerTask: 3 };
  const lines = listScriptDirectives(formatSampleScript({ ...options, sbatch: ['--gres=gpu:1', '--requeue'] }));
  expect(lines).toContain('#SBATCH --array=0-4%2');
  expect(lines.slice(-8)).toEqual([
    '#SBATCH --partition=p',
    '#SBATCH --account="a b"',
    '#SBATCH --time=1-12',
    '#SBATCH --mem=8G',
    '#SBATCH --cpus-per-task=3',
    '#SBATCH --no-requeue',
    '#SBATCH --gres=gpu:1',
    '#SBATCH --requeue',
  ]);
});
