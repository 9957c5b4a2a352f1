import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { findSlurmObstacle, useSlurm } from './slurm.harness.ts';
import { cancelJob, countPendingTasks, submit } from './slurm.ts';

const obstacle = findSlurmObstacle();
if (obstacle !== null) process.stderr.write(`slurm-commands.test: skipped, ${obstacle}\n`);

const root = mkdtempSync(join(tmpdir(), 'ragpp-commands-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A job that waits until somebody lets it go. */
function writeHeldScript(...directives: string[]): string {
  const path = join(root, 'job.sh');
  const lines = ['--hold', '--output=/dev/null', ...directives].map((directive) => `#SBATCH ${directive}\n`);
  writeFileSync(path, `#!/bin/sh\n${lines.join('')}true\n`);
  return path;
}

describe.skipIf(obstacle !== null)('on a cluster of its own', () => {
  useSlurm();

  test('a job is submitted under a number, its tasks are counted one by one, and none is left once it is cancelled', async () => {
    const [job, other] = [submit(writeHeldScript('--array=0-4')), submit(writeHeldScript())];
    expect(Number(job)).toBeGreaterThan(0);
    expect(await Promise.all([countPendingTasks(job), countPendingTasks(other)])).toEqual([5, 1]);
    cancelJob(job);
    expect(await Promise.all([countPendingTasks(job), countPendingTasks(other)])).toEqual([0, 1]);
    cancelJob(other);
  });

  test('a job that the queue does not know has no task', async () => {
    expect(await countPendingTasks('999983')).toBe(0);
  });

  test('what sbatch refuses is an error in one line', () => {
    const submitRefused = () => submit(writeHeldScript('--partition=gpu'));
    expect(submitRefused).toThrow(ValidationError);
    expect(submitRefused).toThrow(
      /^sbatch failed: sbatch: error: invalid partition specified: gpu; sbatch: error: [^\n;]*; correct the options of the launcher, or check the cluster$/,
    );
  });
});

describe('where there is no Slurm', () => {
  const { PATH } = process.env;
  afterEach(() => {
    process.env.PATH = PATH;
  });

  test('a job cannot be submitted, and the error names another way', () => {
    process.env.PATH = '/nowhere';
    const submitNowhere = () => submit(writeHeldScript());
    expect(submitNowhere).toThrow(UnavailableError);
    expect(submitNowhere).toThrow(/^sbatch is not available: .*ENOENT; install Slurm, or choose another launcher$/);
  });

  test('how many tasks there are is not known', async () => {
    process.env.PATH = '/nowhere';
    expect(await countPendingTasks('7')).toBeNull();
  });

  test('a job that cannot be cancelled is warned of, and nothing is thrown', async () => {
    process.env.PATH = '/nowhere';
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    cancelJob('7');
    expect((await warned).message).toMatch(
      /^job 7 may still be in the queue: .*ENOENT; install Slurm, or choose another launcher$/,
    );
  });
});
