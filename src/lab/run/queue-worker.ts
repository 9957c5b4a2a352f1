import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectVersion } from '../../core/code/package-root.ts';
import {
  type ProcessDiedError,
  type RagPlusPlusError,
  UnavailableError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { readBytes, writeAtomic } from '../../core/files/files.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import type { SqlDatabase } from '../../index/vectors/postgres/sql-database.ts';
import { ArmProcess } from '../launch/arm-process.ts';
import type { ArmOutcome } from '../launch/launcher.ts';
import { findOwnProgram, type Program } from '../launch/own-process.ts';
import { type LeasedArm, QueueBlobs, type QueueTables, type RunFacts } from '../launch/queue-tables.ts';
import { joinFailurePath, recordPath, writeFailure } from './arm-record.ts';
import { OFFERED_DATA } from './arm-runner.ts';
import { recordVersion } from './environment.ts';
import { DATA_NAME } from './offered-data.ts';

/** Seconds between two looks for an arm, and the most between two signs that an arm is worked on. */
const POLL_SECONDS = 0.5;

export interface QueueWorkerOptions {
  /** The connection string of the queue. */
  readonly url: string;
  /** Arms at once, each in a process. */
  readonly workers: number;
  /** Ends after this time without an arm; null: never. */
  readonly idleSeconds: number | null;
  /** An arm that this worker is not heard to work on for this time goes to another one. */
  readonly leaseSeconds: number;
  /** By default that of each run. */
  readonly backend?: BackendName;
  readonly cacheFolder: string;
  /** Runs arms; by default this program. */
  readonly program?: Program;
  /** Gives leases back and ends. */
  readonly signal: AbortSignal;
  /** Takes a line for each arm, and for each run that is refused. */
  readonly log: (line: string) => void;
}

interface OpenProcess {
  readonly run: string;
  readonly process: ArmProcess;
}

/** Waits, or until the signal is aborted. */
const wait = (seconds: number, signal: AbortSignal) =>
  sleep(seconds * 1000, undefined, { signal, ref: true }).catch(() => {});

/** Leases arms from a queue and runs them, each in a process of its own, until its signal is aborted. */
export class QueueWorker {
  readonly #id = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #database: SqlDatabase;
  readonly #tables: QueueTables;
  readonly #options: QueueWorkerOptions;
  readonly #root = mkdtempSync(join(tmpdir(), 'ragpp-queue-'));
  readonly #facts = new Map<string, RunFacts>();
  /** Runs that cannot be worked on here, with the reason. */
  readonly #refused = new Map<string, RagPlusPlusError>();
  #done = 0;
  #lastArm = performance.now();
  #working = 0;

  constructor(database: SqlDatabase, tables: QueueTables, options: QueueWorkerOptions) {
    this.#database = database;
    this.#tables = tables;
    this.#options = options;
  }

  /**
   * Works until the signal, or until there was no arm for long.
   *
   * @returns the arms that were run.
   * @throws the error of the first run that was refused, if no arm was run.
   */
  async serve(): Promise<number> {
    const { workers, signal } = this.#options;
    try {
      await Promise.all(Array.from({ length: workers }, (_, slot) => this.#work(`${this.#id}-${slot}`)));
    } finally {
      rmSync(this.#root, { recursive: true, force: true });
    }
    const [refusal] = this.#refused.values();
    if (this.#done === 0 && refusal !== undefined && !signal.aborted) throw refusal;
    return this.#done;
  }

  /** One arm after the other. A process is kept for the arms of one run. */
  async #work(worker: string): Promise<void> {
    const { signal } = this.#options;
    let open: OpenProcess | null = null;
    try {
      while (!signal.aborted && !this.#isIdle()) {
        const leased = await this.#whileAway(() => this.#lease(worker));
        if (leased === null) {
          await wait(POLL_SECONDS, signal);
          continue;
        }
        this.#working++;
        open = await this.#runLeased(worker, leased, open);
        this.#working--;
        this.#lastArm = performance.now();
      }
    } finally {
      if (signal.aborted) open?.process.kill();
      else await open?.process.endGracefully();
    }
  }

  #isIdle(): boolean {
    const { idleSeconds } = this.#options;
    return idleSeconds !== null && this.#working === 0 && performance.now() - this.#lastArm > idleSeconds * 1000;
  }

  /** Repeats a question while the database does not answer. @returns null once the signal is aborted. */
  async #whileAway<T>(ask: () => Promise<T>): Promise<T | null> {
    const { signal } = this.#options;
    while (!signal.aborted)
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        await wait(POLL_SECONDS, signal);
      }
    return null;
  }

  /** The next arm of a run that can be worked on here. */
  async #lease(worker: string): Promise<LeasedArm | null> {
    const runs = await this.#tables.listRuns();
    for (const { run, facts } of runs) this.#noteFacts(run, facts);
    const suited = runs.filter(({ run }) => !this.#refused.has(run)).map(({ run }) => run);
    return suited.length === 0 ? null : this.#tables.lease(worker, suited, this.#options.leaseSeconds);
  }

  /** Refuses a run of another version, code or backend. */
  #noteFacts(run: string, facts: RunFacts): void {
    this.#facts.set(run, facts);
    const own: Omit<RunFacts, 'blobBytes'> = {
      ...{ version: projectVersion(), code: recordVersion() },
      backend: this.#options.backend ?? facts.backend,
    };
    const differing = (['version', 'code', 'backend'] as const).filter((key) => own[key] !== facts[key]);
    if (differing.length === 0) return;
    const values = differing.map((key) => `${key} ${facts[key]}, here ${own[key]}`).join('; ');
    this.#refuse(run, `${values}; install the version of the command here, or start the command with this one`);
  }

  #refuse(run: string, reason: string): void {
    if (this.#refused.has(run)) return;
    const error = new ValidationError(`run ${run} cannot be worked on here: ${reason}`, { run });
    this.#refused.set(run, error);
    this.#options.log(error.message);
  }

  /** The folder of a run here, with the files and the data of its command; null if the queue no longer has them. */
  async #openFolder(run: string): Promise<string | null> {
    const folder = join(this.#root, run);
    if (existsSync(join(folder, OFFERED_DATA))) return folder;
    const found = await this.#tables.readFiles(run);
    if (found === null) return null;
    const { [DATA_NAME]: data = '', ...files } = found;
    const bytes = await new QueueBlobs(this.#database, 0).get(data);
    if (bytes === null) this.#refuse(run, `its data is not in the queue: ${data}; start the run again`);
    if (bytes === null) return null;
    for (const [name, text] of Object.entries(files)) writeAtomic(join(folder, name), text);
    writeAtomic(join(folder, OFFERED_DATA), bytes);
    return folder;
  }

  /** A process that has opened the run of an arm. */
  async #openProcess({ run }: LeasedArm, folder: string, open: OpenProcess | null): Promise<OpenProcess> {
    if (open?.run === run) return open;
    await open?.process.endGracefully();
    const { backend, blobBytes } = this.#facts.get(run) as RunFacts;
    const cacheFolder = resolve(this.#options.cacheFolder);
    const { program = findOwnProgram() } = this.#options;
    const process = new ArmProcess({ program, backend: backend as BackendName, cacheFolder });
    process.open({ open: folder, queue: { url: this.#options.url, blobBytes } });
    return { run, process };
  }

  /** Runs an arm and stores its outcome. @returns the process, unless it has ended. */
  async #runLeased(worker: string, leased: LeasedArm, before: OpenProcess | null): Promise<OpenProcess | null> {
    const folder = await this.#whileAway(() => this.#openFolder(leased.run));
    if (folder === null) {
      await this.#tables.giveBack(worker, leased, false).catch(() => {}); // it goes back when the lease ends
      return before;
    }
    const open = await this.#openProcess(leased, folder, before);
    const paths = [recordPath(folder, leased.arm), joinFailurePath(folder, leased.arm)] as const;
    for (const path of paths) rmSync(path, { force: true });
    const death = await this.#follow(worker, leased, open.process);
    if (death === 'stopped') return null;
    if (death !== null) {
      await this.#noteDeath(worker, leased, death, open.process, folder);
      return null;
    }
    const [record, failure] = paths;
    const isFailure = !existsSync(record);
    await this.#finish(worker, leased, { isFailure, bytes: readBytes(isFailure ? failure : record) });
    return open;
  }

  async #finish(worker: string, leased: LeasedArm, outcome: ArmOutcome): Promise<void> {
    await this.#whileAway(() => this.#tables.finish(worker, leased, outcome));
    this.#done++;
    this.#options.log(`${outcome.isFailure ? 'failed' : 'done'}: arm ${leased.arm} of ${leased.run}`);
  }

  /**
   * Waits for an arm, and says meanwhile that it is worked on.
   *
   * @returns null when it is done, how its process died, or `stopped`: this worker ends, or the arm is no longer its
   *   own.
   */
  async #follow(worker: string, leased: LeasedArm, process: ArmProcess): Promise<ProcessDiedError | null | 'stopped'> {
    const { signal, leaseSeconds } = this.#options;
    let done = 0;
    const asked = process.ask({ arm: leased.arm }, (share) => {
      done = share;
    });
    for (;;) {
      const beat = new AbortController();
      const waiting = wait(Math.min(POLL_SECONDS, leaseSeconds / 3), AbortSignal.any([signal, beat.signal]));
      const ended = await Promise.race([asked, waiting.then(() => 'waiting' as const)]);
      beat.abort();
      if (ended !== 'waiting') return ended;
      const isHeld = !signal.aborted && (await this.#hold(worker, leased, done));
      if (isHeld && !signal.aborted) continue;
      process.kill();
      await this.#tables.giveBack(worker, leased, false).catch(() => {}); // it goes back when the lease ends
      await asked;
      return 'stopped';
    }
  }

  /** True as long as the arm is this worker's; nobody can take it while the database is away. */
  async #hold(worker: string, leased: LeasedArm, share: number): Promise<boolean> {
    try {
      return await this.#tables.hold(worker, leased, this.#options.leaseSeconds, share);
    } catch (error) {
      if (error instanceof UnavailableError) return true;
      throw error;
    }
  }

  /** A process that ends by itself before it is ready cannot open the run; another death is a try of the arm. */
  async #noteDeath(
    worker: string,
    leased: LeasedArm,
    death: ProcessDiedError,
    process: ArmProcess,
    folder: string,
  ): Promise<void> {
    const isUnable = !process.isReady && death.facts.signal === null;
    if (isUnable) this.#refuse(leased.run, death.message);
    if (!isUnable && (await this.#whileAway(() => this.#tables.isLastTry(leased)))) {
      writeFailure(folder, leased.arm, death);
      await this.#finish(worker, leased, { isFailure: true, bytes: readBytes(joinFailurePath(folder, leased.arm)) });
    } else await this.#whileAway(() => this.#tables.giveBack(worker, leased, !isUnable));
  }
}
