import { letEventsIn } from '../../core/terminal/progress.ts';
import type { ArmProcess } from './arm-process.ts';
import type { Launcher, LaunchJob, LocalOptions } from './launcher.ts';

/** An arm whose process dies is tried once more, since what killed it may have been meant for another: memory that ran out, an operator. */
const TRIES = 2;

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
    return this.#workers === 1 ? runHere(job) : runInProcesses(job, this.#workers);
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

interface Task {
  readonly arm: string;
  readonly tries: number;
}

async function runInProcesses(job: LaunchJob, workers: number): Promise<void> {
  const queue: Task[] = job.arms.map((arm) => ({ arm, tries: 0 }));
  const stop = new AbortController();
  const bounded = { ...job, signal: AbortSignal.any([job.signal, stop.signal]) };
  const work = Array.from({ length: Math.min(workers, queue.length) }, () =>
    runQueuedArms(bounded, queue).catch((error: unknown) => {
      stop.abort(error); // what one process cannot, the others cannot either
      throw error;
    }),
  );
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Takes arms from the queue until it is empty, with a new process where one has died. @throws ProcessDiedError where processes do not even start. */
async function runQueuedArms(job: LaunchJob, queue: Task[]): Promise<void> {
  const { ArmProcess: Process } = await import('./arm-process.ts');
  let worker: ArmProcess | null = null;
  const kill = () => worker?.kill();
  job.signal.addEventListener('abort', kill);
  try {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      job.signal.throwIfAborted();
      worker ??= new Process(job);
      const { arm, tries } = task;
      const death = await worker.run(arm, (share) => job.report(arm, share));
      job.signal.throwIfAborted();
      const isLast = tries + 1 === TRIES;
      if (death !== null) {
        if (isLast && !worker.isReady) throw death;
        worker = null;
        if (isLast) job.outcomes.fail(arm, death);
        else queue.push({ arm, tries: tries + 1 });
      }
      if (death === null || isLast) job.report(arm, 1);
    }
  } finally {
    job.signal.removeEventListener('abort', kill);
    await worker?.endGracefully();
  }
}
