import type { ArmProcess, ArmRequest } from './arm-process.ts';
import type { LaunchJob, SharedWork } from './launcher.ts';

/**
 * The tries of a task whose process dies: what killed it may have been meant for another, such as memory that ran out
 * or an operator.
 */
const TRIES = 2;

/** A task of the queue: an arm, or work that arms share. */
export interface Task {
  readonly id: string;
  /** The tasks whose results it reads. */
  readonly needs: readonly string[];
  /** The name of what a process keeps in memory for tasks of the same place. */
  readonly place: string;
  readonly request: ArmRequest;
  readonly tries: number;
}

/** Tasks in their order, each to be taken when those that it needs are done. */
export class TaskQueue {
  #waiting: Task[];
  /** Worker -> the place of its last task. */
  readonly #places = new Map<number, string>();
  readonly #open: Set<string>;
  #wake: () => void = () => {};
  #changed = this.#nextChange();

  constructor(tasks: readonly Task[]) {
    this.#waiting = [...tasks];
    this.#open = new Set(tasks.map(({ id }) => id));
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #change(): void {
    this.#wake();
    this.#changed = this.#nextChange();
  }

  /** The first of the tasks that can be done: of the worker's place, else of a place that no other worker has. */
  #choose(worker: number): Task | undefined {
    const ready = this.#waiting.filter(({ needs }) => !needs.some((id) => this.#open.has(id)));
    const own = this.#places.get(worker);
    const others = [...this.#places].flatMap(([one, place]) => (one === worker ? [] : [place]));
    const free = () => ready.find(({ place }) => !others.includes(place));
    return ready.find(({ place }) => place === own) ?? free() ?? ready[0];
  }

  /** A task for a worker; null if all are taken. Waits while all that are left need others. */
  async take(worker: number): Promise<Task | null> {
    while (this.#waiting.length > 0) {
      const task = this.#choose(worker);
      if (task !== undefined) {
        this.#places.set(worker, task.place);
        this.#waiting = this.#waiting.filter((one) => one !== task);
        return task;
      }
      await this.#changed;
    }
    return null;
  }

  finish({ id }: Task): void {
    this.#open.delete(id);
    this.#change();
  }

  putBack(task: Task): void {
    this.#waiting.push({ ...task, tries: task.tries + 1 });
    this.#change();
  }

  /** Wakes those that wait, for an end. */
  close(): void {
    this.#waiting = [];
    this.#change();
  }
}

const ARM = 'arm';

function listTasks(arms: readonly string[], { tasks, needs }: SharedWork): Task[] {
  return [
    ...tasks.map(({ request, ...task }) => ({ ...task, request: { shared: request }, tries: 0 })),
    ...arms.map((arm) => ({
      ...{ id: `${ARM} ${arm}`, needs: needs.get(arm) ?? [], place: ARM },
      ...{ request: { arm }, tries: 0 },
    })),
  ];
}

const NOTHING: SharedWork = { tasks: [], needs: new Map(), note: () => {} };

/**
 * Runs the arms of a job in processes: what arms share is made once, by whichever process is free, then each arm. The
 * processes open the run while the tasks are planned.
 *
 * @param waiting processes that were started before, and are taken from the list; more are started if there are too
 *   few.
 * @throws ProcessDiedError where processes do not even start.
 */
export async function runInProcesses(job: LaunchJob, workers: number, waiting: ArmProcess[] = []): Promise<void> {
  const { ArmProcess: Process } = await import('./arm-process.ts');
  const startNext = () => (waiting.shift() ?? new Process(job)).open(job.folder);
  const started = Array.from({ length: Math.min(workers, job.arms.length) }, startNext);
  const shared = await planShared(job, workers).catch((error: unknown) => {
    for (const process of started) process.kill();
    throw error;
  });
  const tasks = listTasks(job.arms, shared);
  const queue = new TaskQueue(tasks);
  const stop = new AbortController();
  const bounded = { ...job, signal: AbortSignal.any([job.signal, stop.signal]) };
  const work = Array.from({ length: Math.min(workers, tasks.length) }, (_, worker) =>
    runQueuedTasks(bounded, queue, worker, shared.note, started[worker] ?? null).catch((error: unknown) => {
      stop.abort(error); // what one process cannot, the others cannot either
      queue.close();
      throw error;
    }),
  );
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** @throws the reason of an abort meanwhile. */
async function planShared({ plan, signal }: LaunchJob, workers: number): Promise<SharedWork> {
  const shared = await plan?.(workers);
  signal.throwIfAborted();
  return shared ?? NOTHING;
}

/** Takes tasks from the queue until it is empty, with a new process where one has died. */
async function runQueuedTasks(
  job: LaunchJob,
  queue: TaskQueue,
  number: number,
  note: SharedWork['note'],
  started: ArmProcess | null,
): Promise<void> {
  const { ArmProcess: Process } = await import('./arm-process.ts');
  let worker = started;
  const kill = () => worker?.kill();
  job.signal.addEventListener('abort', kill);
  try {
    for (let task = await queue.take(number); task !== null; task = await queue.take(number)) {
      job.signal.throwIfAborted();
      worker ??= new Process(job).open(job.folder);
      const { request, tries } = task;
      const arm = 'arm' in request ? request.arm : null;
      const death = await worker.ask(request, (share) => arm !== null && job.report(arm, share), note);
      job.signal.throwIfAborted();
      const isLast = tries + 1 === TRIES;
      if (death !== null) {
        if (isLast && !worker.isReady) throw death;
        worker = null;
        if (isLast && arm !== null) job.outcomes.fail(arm, death);
        else if (!isLast) queue.putBack(task);
      }
      if (death !== null && !isLast) continue;
      queue.finish(task); // shared work that is not done is done by the arms
      if (arm !== null) job.report(arm, 1);
    }
  } finally {
    job.signal.removeEventListener('abort', kill);
    await worker?.endGracefully();
  }
}
