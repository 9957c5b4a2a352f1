import { letEventsIn } from '../../core/terminal/progress.ts';
import type { Launcher, LaunchJob, LocalOptions } from './launcher.ts';

/** Runs arms on this machine. */
export class LocalLauncher implements Launcher {
  readonly name = 'local';
  readonly #workers: number;

  constructor({ workers }: LocalOptions) {
    this.#workers = workers;
  }

  countArmsAtOnce(arms: number): number {
    return Math.max(1, Math.min(this.#workers, arms));
  }

  launch(job: LaunchJob): Promise<void> {
    return this.#workers === 1 ? runHere(job) : runInPool(job, this.#workers);
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

async function runInPool(job: LaunchJob, workers: number): Promise<void> {
  const { runInProcesses } = await import('./process-pool.ts');
  await runInProcesses(job, workers);
}
