import { letEventsIn } from '../../core/terminal/progress.ts';
import type { Launcher, LaunchJob, LocalOptions, ProcessJob, StartedProcesses } from './launcher.ts';
import type { ProcessPool } from './process-pool.ts';

/** Runs arms on this machine. */
export class LocalLauncher implements Launcher {
  readonly name = 'local';
  readonly #workers: number;
  /** Processes that wait for a run. */
  #started: ProcessPool | undefined;

  constructor({ workers }: LocalOptions) {
    this.#workers = workers;
  }

  countArmsAtOnce(arms: number): number {
    return Math.max(1, Math.min(this.#workers, arms));
  }

  async start(job: ProcessJob, arms: number): Promise<StartedProcesses> {
    const pool = new (await import('./process-pool.ts')).ProcessPool(job, this.#workers);
    pool.start(this.countArmsAtOnce(arms));
    this.#started = pool;
    return pool;
  }

  launch(job: LaunchJob): Promise<void> {
    return this.#workers === 1 ? runHere(job) : this.#runInPool(job);
  }

  async #runInPool(job: LaunchJob): Promise<void> {
    const pool = this.#started ?? new (await import('./process-pool.ts')).ProcessPool(job, this.#workers);
    this.#started = undefined; // a pool has one run
    await pool.run(job);
  }
}

async function runHere({ arms, runHere: run, report, signal }: LaunchJob): Promise<void> {
  for (const arm of arms) {
    await letEventsIn();
    signal.throwIfAborted();
    await run(arm);
    report(arm, 1);
  }
}
