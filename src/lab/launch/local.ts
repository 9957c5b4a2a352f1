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
    const pool = await this.#openPool(job);
    pool.start(this.countArmsAtOnce(arms));
    this.#started = pool;
    return pool;
  }

  async #openPool(job: ProcessJob): Promise<ProcessPool> {
    const { ProcessPool: Pool } = await import('./process-pool.ts');
    return new Pool(job, this.#workers);
  }

  async launch(job: LaunchJob): Promise<void> {
    if (this.#workers === 1) return runHere(job);
    const pool = this.#started ?? (await this.#openPool(job));
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
