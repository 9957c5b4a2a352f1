import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ProcessDiedError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { makeFolder, writeAtomic } from '../../core/files/files.ts';
import { escapeControls } from '../../core/terminal/progress.ts';
import { quoteShellWord } from '../../core/text/format.ts';
import { buildArmOptions, findLastWords, isOutOfMemory } from './arm-process.ts';
import type { Launcher, LaunchJob, ProcessJob, SlurmOptions } from './launcher.ts';

/** Inputs of a job array, whose tasks are the arms. */
type ArrayJob = ProcessJob & Pick<LaunchJob, 'folder' | 'arms'>;

/** A value for a line of sbatch, which splits at blanks and expands `%` in names of files. */
function quoteSbatchValue(text: string): string {
  return /[\s"'\\#]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}

function listDirectives(job: ArrayJob, folder: string, options: SlurmOptions): string[] {
  const { workers, partition, account, time, memory, cpusPerTask, sbatch } = options;
  const throttle = workers === null ? '' : `%${workers}`;
  const log = join(folder.replaceAll('%', '%%'), '%A_%a.log');
  const given: [name: string, value: string | number | undefined][] = [
    ['job-name', 'ragpp'],
    ['array', `0-${job.arms.length - 1}${throttle}`],
    ['chdir', process.cwd()],
    ['output', log],
    ['partition', partition],
    ['account', account],
    ['time', time],
    ['mem', memory],
    ['cpus-per-task', cpusPerTask],
  ];
  const lines = given.flatMap(([name, text]) =>
    text === undefined ? [] : [`--${name}=${quoteSbatchValue(String(text))}`],
  );
  return [...lines, '--no-requeue', ...sbatch].map((line) => `#SBATCH ${line}`);
}

/**
 * The script of a job array, one arm a task. The arms are written into it, so that a task's arm does not depend on what
 * happens to the folder meanwhile.
 *
 * @param folder where logs go, `<job>_<task>.log`.
 */
export function formatArrayScript(job: ArrayJob, folder: string, options: SlurmOptions): string {
  const { nodeOptions, main } = job.program;
  const command = [process.execPath, ...nodeOptions, main, 'arm', job.folder, ...buildArmOptions(job)]
    .map(quoteShellWord)
    .join(' ');
  const cases = job.arms.map((arm, task) => `${task}) arm=${quoteShellWord(arm)} ;;`);
  return [
    '#!/bin/sh',
    ...listDirectives(job, folder, options),
    'set -e',
    ...options.setup,
    'case "$SLURM_ARRAY_TASK_ID" in',
    ...cases,
    'esac',
    `exec ${command} --arm "$arm"`,
    '',
  ].join('\n');
}

/** The stderr of a command of Slurm, on one line. */
function readSlurmComplaint(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).replace(/\s*\n\s*/g, '; ');
}

const TIMEOUT_MILLISECONDS = 60_000;

function runSlurmCommand(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MILLISECONDS,
    });
  } catch (error) {
    const complaint = readSlurmComplaint(error);
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UnavailableError(command, `${complaint}; install Slurm, or choose another launcher`, { cause: error });
    throw new ValidationError(
      `${command} failed: ${complaint}; correct the options of the launcher, or check the cluster`,
      { command },
      { cause: error },
    );
  }
}

/**
 * @returns the job's number.
 * @throws UnavailableError where Slurm is not installed, ValidationError with the reason where sbatch refuses the job.
 */
export function submit(script: string): string {
  const [id = ''] = runSlurmCommand('sbatch', ['--parsable', script]).trim().split(';'); // a cluster's name may follow
  return id;
}

/**
 * The number of tasks of a job that wait or run; 0 for one that the queue has forgotten, null where the controller does
 * not answer. Signals are heard meanwhile.
 */
export async function countPendingTasks(id: string): Promise<number | null> {
  const args = ['--noheader', '--array', '--jobs', id, '--format', '%i'];
  try {
    const { stdout } = await promisify(execFile)('squeue', args, { timeout: TIMEOUT_MILLISECONDS });
    return stdout.split('\n').filter((line) => line.trim() !== '').length;
  } catch (error) {
    return readSlurmComplaint(error).includes('Invalid job id') ? 0 : null;
  }
}

/**
 * Takes a job with all its tasks out of the queue, at once, since the process may be about to end. Warns where that
 * fails.
 */
export function cancelJob(id: string): void {
  try {
    runSlurmCommand('scancel', ['--quiet', id]);
  } catch (error) {
    process.emitWarning(escapeControls(`job ${id} may still be in the queue: ${readSlurmComplaint(error)}`));
  }
}

/** The names of the job's files within the folder of the run. */
const FOLDER = 'slurm';

/** A network file system may show a task's outcome some polls after the queue has forgotten the task. */
const LAST_LOOKS = 3;

/** Polls in vain before the controller counts as gone: it may be restarted meanwhile. */
const SILENCES = 60;

const LOG_CHARACTERS = 2000;

const MEMORY_ADVICE =
  "raise the heap limit with 'export NODE_OPTIONS=--max-old-space-size=<MiB>' in the launcher's setup, and its memory";

/**
 * Runs arms as one job array, an arm a task, and waits for it. Other machines must see the run's folder, the cache and
 * the program under the same paths.
 */
export class SlurmLauncher implements Launcher {
  readonly name = 'slurm';
  readonly #options: SlurmOptions;

  constructor(options: SlurmOptions) {
    this.#options = options;
  }

  countArmsAtOnce(arms: number): number {
    return Math.max(1, Math.min(this.#options.workers ?? arms, arms));
  }

  async launch(job: LaunchJob): Promise<void> {
    job.signal.throwIfAborted();
    const folder = join(job.folder, FOLDER);
    makeFolder(folder);
    const script = join(folder, 'job.sh');
    writeAtomic(script, formatArrayScript(job, folder, this.#options));
    const id = submit(script);
    const cancel = () => cancelJob(id);
    job.signal.addEventListener('abort', cancel, { once: true });
    try {
      await this.#wait(job, id);
    } finally {
      job.signal.removeEventListener('abort', cancel);
    }
    for (const [task, arm] of job.arms.entries())
      if (!job.outcomes.has(arm)) job.outcomes.fail(arm, describeDeath(folder, `${id}_${task}`));
  }

  /**
   * Returns once the queue knows no task of the job, and every outcome that is going to be seen is there.
   *
   * @throws UnavailableError where the controller does not answer for long.
   */
  async #wait(job: LaunchJob, id: string): Promise<void> {
    let silences = 0;
    for (let looks = 0; looks < LAST_LOOKS; ) {
      await sleep(this.#options.pollSeconds * 1000, undefined, { signal: job.signal });
      const done = job.arms.filter((arm) => job.outcomes.has(arm));
      for (const arm of done) job.report(arm, 1);
      const pending = await countPendingTasks(id);
      job.signal.throwIfAborted();
      silences = pending === null ? silences + 1 : 0;
      if (silences >= SILENCES)
        throw new UnavailableError(
          'slurm controller',
          `squeue has failed since job ${id} ran; wait for the job and run again with --resume`,
        );
      if (pending !== 0) looks = 0;
      else if (done.length === job.arms.length) return;
      else looks++;
    }
  }
}

function describeDeath(folder: string, task: string): ProcessDiedError {
  const path = join(folder, `${task}.log`);
  const log = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  const last = findLastWords(log);
  const advice = isOutOfMemory(last) ? MEMORY_ADVICE : 'read the log, then run again with --retry-failed';
  const error = new ProcessDiedError(
    `slurm task ${task} left no record; ${last === '' ? 'its log is empty' : last}: ${path}; ${advice}`,
  );
  error.stack = log.slice(-LOG_CHARACTERS);
  return error;
}
