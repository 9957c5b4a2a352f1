import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { hasOutcome, joinFailurePath, outcomesIn } from '../run/arm-record.ts';
import { type LaunchJob, slurm } from './launcher.ts';
import { findOwnProgram } from './own-process.ts';
import { findSlurmObstacle, useSlurm } from './slurm.harness.ts';
import { SlurmLauncher } from './slurm.ts';

const obstacle = findSlurmObstacle();
if (obstacle !== null) process.stderr.write(`slurm.test: skipped, ${obstacle}\n`);

const program = { ...findOwnProgram(), main: fileURLToPath(new URL('./arm-process.harness.ts', import.meta.url)) };
const root = mkdtempSync(join(tmpdir(), "ragpp's 100 % jobs-"));
afterAll(() => rmSync(root, { recursive: true }));

function buildSlurmJob(arms: readonly string[], more: Partial<LaunchJob> = {}): LaunchJob {
  const folder = mkdtempSync(join(root, 'run-'));
  const { signal } = new AbortController();
  const runHere = () => Promise.reject(new Error('no arm is run in this process'));
  const places = { folder, cacheFolder: folder, backend: 'wasm' } as const;
  return { ...places, arms, outcomes: outcomesIn(folder), program, runHere, report: () => {}, signal, ...more };
}
const createSlurmLauncher = (more: object = {}) =>
  new SlurmLauncher(slurm.options.parse({ name: 'slurm', pollSeconds: 0.3, ...more }));
const readFailureFile = (folder: string, arm: string) => JSON.parse(readFileSync(joinFailurePath(folder, arm), 'utf8'));
const readSlurmQueue = () => execFileSync('squeue', ['-h', '-r', '-o', '%i'], { encoding: 'utf8' }).trim();

describe.skipIf(obstacle !== null)('on a cluster of its own', () => {
  useSlurm();

  test('every arm is a task of one array; what leaves no outcome fails with the end of its log', async () => {
    const done: string[] = [];
    const report = (arm: string, share: number) => void (share === 1 && done.push(arm));
    const job = buildSlurmJob(["it's", '+ IRCP, directed × 2', 'exit', '$(false) "a"'], { report });
    await createSlurmLauncher({
      workers: 2,
      partition: 'main',
      cpusPerTask: 1,
      setup: ['export GREETING=hello'],
    }).launch(job);
    const { folder } = job;
    for (const arm of ["it's", '+ IRCP, directed × 2', '$(false) "a"'])
      expect(readFailureFile(folder, arm).message).toMatch(/^by process \d+$/);
    const { code, message, stack } = readFailureFile(folder, 'exit');
    expect(code).toBe('PROCESS_DIED');
    expect(message).toMatch(
      /^slurm task \d+_2 left no record; last words: .*slurm\/\d+_2\.log; read the log, then run again with --retry-failed$/,
    );
    expect(stack).toBe('first words\nlast words');
    expect(new Set(done)).toEqual(new Set(["it's", '+ IRCP, directed × 2', '$(false) "a"']));
    expect(readdirSync(join(folder, 'slurm')).filter((name) => name.endsWith('.log'))).toHaveLength(4);
    expect(readSlurmQueue()).toBe('');
  });

  test('an interruption takes the job out of the queue', async () => {
    const interruption = new AbortController();
    const job = buildSlurmJob(['sleep', 'b'], { signal: interruption.signal });
    const launched = createSlurmLauncher({ workers: 1 }).launch(job);
    setTimeout(() => interruption.abort(), 1500);
    await expect(launched).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    for (let look = 0; look < 40 && readSlurmQueue() !== ''; look++)
      await new Promise((resolve) => setTimeout(resolve, 250));
    expect(readSlurmQueue()).toBe('');
    expect(hasOutcome(job.folder, 'sleep')).toBe(false);
  });

  test('an error of sbatch is reported in its words', async () => {
    const launched = createSlurmLauncher({ partition: 'gpu' }).launch(buildSlurmJob(['a']));
    await expect(launched).rejects.toThrow(ValidationError);
    await expect(launched).rejects.toThrow(/sbatch failed: .*invalid partition specified/);
  });
});

test('where Slurm is not installed, sbatch is missing', async () => {
  const { PATH } = process.env;
  process.env.PATH = '/nowhere';
  try {
    await expect(createSlurmLauncher().launch(buildSlurmJob(['a']))).rejects.toThrow(
      /sbatch is not available: spawnSync sbatch ENOENT/,
    );
  } finally {
    process.env.PATH = PATH;
  }
});

test.each([
  ['an unknown option', { partion: 'main' }],
  ['no arm at once', { workers: 0 }],
  ['two lines in one', { partition: 'a\n#SBATCH --uid=0' }],
  ['an option of sbatch that is none', { sbatch: ['gres=gpu:1'] }],
])('%s is refused', (_, options) => {
  expect(slurm.options.safeParse({ name: 'slurm', ...options }).success).toBe(false);
});
