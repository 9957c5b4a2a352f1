import { letEventsIn } from '../../core/terminal/progress.ts';
import type { ArmProcess } from './arm-process.ts';
import type { Launcher, LaunchJob, LocalOptions, ProcessJob } from './launcher.ts';

/** Runs arms on this machine. */
export class LocalLauncher implements Launcher {
  readonly name = 'local';
  readonly #workers: number;
  /** Processes that wait for a run. */
  #started: ArmProcess[] | undefined;

  constructor({ workers }: LocalOptions) {
    this.#workers = workers;
  }

  countArmsAtOnce(arms: number): number {
    return Math.max(1, Math.min(this.#workers, arms));
  }

  async start(job: ProcessJob, arms: number): Promise<() => void> {
    const { ArmProcess: Process } = await import('./arm-process.ts');
    const count = this.#workers > 1 ? this.countArmsAtOnce(arms) : 0;
    const started = Array.from({ length: count }, () => new Process(job));
    this.#started = started;
    return () => {
      for (const process of started) process.kill();
    };
  }

  launch(job: LaunchJob): Promise<void> {
    return this.#workers === 1 ? runHere(job) : runInPool(job, this.#workers, this.#started);
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

async function runInPool(job: LaunchJob, workers: number, started: ArmProcess[] | undefined): Promise<void> {
  const { runInProcesses } = await import('./process-pool.ts');
  await runInProcesses(job, workers, started);
}
