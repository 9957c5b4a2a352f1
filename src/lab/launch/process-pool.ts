import { availableParallelism } from 'node:os';
import { ArmProcess, type ArmRequest, type OpenRequest } from './arm-process.ts';
import type { LaunchJob, ProcessJob, RunData, SharedTask, SharedWork } from './launcher.ts';

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
  #waiting: Task[] = [];
  #isComplete = false;
  /** Worker -> the place of its last task. */
  readonly #places = new Map<number, string>();
  readonly #known = new Set<string>();
  readonly #done = new Set<string>();
  #wake: () => void = () => {};
  #changed = this.#nextChange();

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #change(): void {
    this.#wake();
    this.#changed = this.#nextChange();
  }

  /** Adds the tasks that it has not had yet. */
  add(tasks: readonly Task[]): void {
    this.#waiting.push(...tasks.filter(({ id }) => !this.#known.has(id)));
    for (const { id } of tasks) this.#known.add(id);
    this.#change();
  }

  /** Ends the additions: a worker that finds no task is done. */
  complete(): void {
    this.#isComplete = true;
    this.#change();
  }

  /** The first of the tasks that can be done: of the worker's place, else of a place that no other worker has. */
  #choose(worker: number): Task | undefined {
    const isOpen = (id: string) => this.#known.has(id) && !this.#done.has(id);
    const ready = this.#waiting.filter(({ needs }) => !needs.some(isOpen));
    const own = this.#places.get(worker);
    const others = [...this.#places].flatMap(([one, place]) => (one === worker ? [] : [place]));
    const free = () => ready.find(({ place }) => !others.includes(place));
    return ready.find(({ place }) => place === own) ?? free() ?? ready[0];
  }

  /** A task for a worker; null if all are taken. Waits while all that are left need others, or more may be added. */
  async take(worker: number): Promise<Task | null> {
    while (this.#waiting.length > 0 || !this.#isComplete) {
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
    this.#done.add(id);
    this.#change();
  }

  putBack(task: Task): void {
    this.#waiting.push({ ...task, tries: task.tries + 1 });
    this.#change();
  }

  /** Wakes those that wait, for an end. */
  close(): void {
    this.#waiting = [];
    this.complete();
  }
}

const ARM = 'arm';

const listShared = (tasks: readonly SharedTask[]): Task[] =>
  tasks.map(({ request, ...task }) => ({ ...task, request: { shared: request }, tries: 0 }));

const listArms = (arms: readonly string[], needs: SharedWork['needs']): Task[] =>
  arms.map((arm) => ({
    ...{ id: `${ARM} ${arm}`, needs: needs.get(arm) ?? [], place: ARM },
    ...{ request: { arm }, tries: 0 },
  }));

const NOTHING: SharedWork = { tasks: [], needs: new Map(), note: () => {} };

/**
 * Processes that run the arms of a run: what arms share is made once, by whichever process is free, then each arm. A
 * pool has one run; whoever makes it ends it.
 */
export class ProcessPool {
  readonly #job: ProcessJob;
  readonly #size: number;
  readonly #queue = new TaskQueue();
  readonly #stop = new AbortController();
  /** They load their code, and wait for a run. */
  readonly #waiting: ArmProcess[] = [];
  readonly #working = new Set<ArmProcess>();
  /** Messages to each process before its first task. */
  readonly #openings: OpenRequest[] = [];
  #launched: LaunchJob | null = null;
  #note: SharedWork['note'] = NOTHING.note;
  readonly #work: Promise<void>[] = [];

  constructor(job: ProcessJob, size: number) {
    this.#job = job;
    this.#size = size;
  }

  /**
   * Starts processes before there is a run. They load their code at the same time on the processors besides that of this
   * process, which reads the data meanwhile, and one after the other where these are fewer.
   */
  start(count: number): void {
    const startNext = () => {
      if (this.#work.length > 0 || this.#stop.signal.aborted || this.#waiting.length === count) return;
      const process = new ArmProcess(this.#job);
      this.#waiting.push(process);
      void process.loaded.then(startNext);
    };
    for (let i = 1; i < Math.max(2, availableParallelism()); i++) startNext();
  }

  /** Has the processes open the data of a run whose arms are not planned yet, and do what needs nothing else. */
  open(data: RunData, { tasks, note }: SharedWork): void {
    this.#note = note;
    this.#openings.push({ data });
    this.#queue.add(listShared(tasks));
    this.#begin(Math.max(this.#waiting.length, tasks.length));
  }

  /**
   * Runs the arms of a job. The processes open its folder while the tasks are planned; what they share is made first.
   *
   * @throws ProcessDiedError where processes do not even start.
   */
  async run(job: LaunchJob): Promise<void> {
    const { arms, folder, plan, signal } = job;
    signal.throwIfAborted();
    const stop = () => this.end(signal.reason);
    signal.addEventListener('abort', stop);
    this.#launched = job;
    this.#openings.push({ open: folder });
    for (const process of this.#working) process.open({ open: folder });
    this.#begin(arms.length);
    try {
      const shared = (await plan?.(this.#size)) ?? NOTHING;
      this.#note = shared.note;
      this.#queue.add([...listShared(shared.tasks), ...listArms(arms, shared.needs)]);
      this.#queue.complete();
      this.#begin(shared.tasks.length + arms.length);
    } catch (error) {
      this.end(error);
    } finally {
      await Promise.all(this.#work);
      signal.removeEventListener('abort', stop);
    }
    this.#stop.signal.throwIfAborted();
  }

  /** Ends all processes where they stand. @param reason what the run rejects with. */
  end(reason?: unknown): void {
    this.#stop.abort(reason);
    this.#queue.close();
    for (const process of [...this.#waiting, ...this.#working]) process.kill();
  }

  /** Has at least as many workers as tasks, within the size of the pool. */
  #begin(tasks: number): void {
    const end = (error: unknown) => this.end(error); // what one process cannot, the others cannot either
    while (this.#work.length < Math.min(tasks, this.#size))
      this.#work.push(this.#doTasks(this.#work.length).catch(end));
  }

  #openProcess(): ArmProcess {
    const process = this.#waiting.shift() ?? new ArmProcess(this.#job);
    this.#working.add(process);
    for (const opening of this.#openings) process.open(opening);
    return process;
  }

  /** Takes tasks from the queue until it is empty, with a new process where one has died. */
  async #doTasks(worker: number): Promise<void> {
    const { signal } = this.#stop;
    let process: ArmProcess | null = this.#openProcess();
    try {
      for (let task = await this.#queue.take(worker); task !== null; task = await this.#queue.take(worker)) {
        process ??= this.#openProcess();
        const { request, tries } = task;
        const arm = 'arm' in request ? request.arm : null;
        const report = (share: number) => arm !== null && this.#launched?.report(arm, share);
        const death = await process.ask(request, report, (stages) => this.#note(stages));
        signal.throwIfAborted();
        const isLast = tries + 1 === TRIES;
        if (death !== null) {
          this.#working.delete(process);
          if (isLast && !process.isReady) throw death;
          process = null;
          if (isLast && arm !== null) this.#launched?.outcomes.fail(arm, death);
          else if (!isLast) this.#queue.putBack(task);
        }
        if (death !== null && !isLast) continue;
        this.#queue.finish(task); // shared work that is not done is done by the arms
        report(1);
      }
    } finally {
      await process?.endGracefully();
    }
  }
}
