import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessDiedError, UnavailableError } from '../../core/errors/errors.ts';
import { makeFolder, writeAtomic } from '../../core/files/files.ts';
import { findLastWords, isOutOfMemory } from './arm-process.ts';
import type { Launcher, LaunchJob } from './launcher.ts';
import { cancelJob, countPendingTasks, submit } from './slurm-commands.ts';
import type { SlurmOptions } from './slurm-options.ts';
import { formatArrayScript } from './slurm-script.ts';

/** The names of the job's files within the folder of the run. */
const FOLDER = 'slurm';

/** A network file system may show a task's outcome some polls after the queue has forgotten the task. */
const LAST_LOOKS = 3;

/** Polls in vain before the controller counts as gone: it may be restarted meanwhile. */
const SILENCES = 60;

const LOG_CHARACTERS = 2000;

const MEMORY_ADVICE =
  "raise the heap limit with 'export NODE_OPTIONS=--max-old-space-size=<MiB>' in the launcher's setup, and its memory";

/** Runs arms as one job array, an arm a task, and waits for it. Other machines must see the run's folder, the cache and the program under the same paths. */
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
