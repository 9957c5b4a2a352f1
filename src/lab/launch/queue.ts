import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectVersion } from '../../core/code/package-root.ts';
import { ProcessDiedError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import type { Launcher, LaunchJob, QueueOptions } from './launcher.ts';
import { connectQueue, QueueBlobs, QueueTables } from './queue-tables.ts';

/** Seconds without an answer of the database after which the run ends. */
const SILENCE_SECONDS = 600;

/** The files of a run's folder from which arms are run. */
const FILES = ['config.yaml', 'environment.json', 'state.json'] as const;

/**
 * Takes a run out of the queue in a process of its own, since this process may be about to end. Where that fails, the
 * workers end its arms once they have not heard of this process for the time of a lease.
 */
function withdraw({ program }: LaunchJob, url: string, run: string): void {
  const words = [...program.nodeOptions, program.main, 'work', '--queue', url, '--withdraw', run];
  const child = spawn(process.execPath, words, { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}

/** Runs arms by workers anywhere, which share a Postgres database with this process and nothing else. */
export class QueueLauncher implements Launcher {
  readonly name = 'queue';
  readonly #options: QueueOptions;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Nobody knows how many workers there are going to be. */
  countArmsAtOnce(arms: number): number {
    return Math.max(1, arms);
  }

  async launch(job: LaunchJob): Promise<void> {
    job.signal.throwIfAborted();
    const { queue: url, blobMebibytes, leaseSeconds } = this.#options;
    const { folder, arms, offer, signal, backend } = job;
    const blobBytes = blobMebibytes * 2 ** 20;
    if (offer === undefined)
      throw new ValidationError('launcher queue needs the data of the run; start it by ragpp run');
    const database = await connectQueue(url);
    try {
      const tables = await QueueTables.open(database);
      const files: Record<string, string> = {
        ...Object.fromEntries(
          FILES.filter((name) => existsSync(join(folder, name))).map((name) => [name, readText(join(folder, name))]),
        ),
        ...(await offer(new QueueBlobs(database, blobBytes))),
      };
      const { recordVersion: code } = JSON.parse(files['state.json'] as string) as { readonly recordVersion: string };
      const run = `${basename(folder)}-${randomBytes(6).toString('hex')}`;
      const end = () => withdraw(job, url, run);
      signal.throwIfAborted();
      await tables.add(
        { run, facts: { version: projectVersion(), code, backend, blobBytes }, files },
        arms,
        leaseSeconds,
      );
      signal.addEventListener('abort', end, { once: true });
      try {
        await this.#follow(job, tables, run);
      } finally {
        signal.removeEventListener('abort', end);
        if (!signal.aborted) await tables.remove(run);
      }
    } finally {
      await database.dispose();
    }
  }

  /** Returns when every arm has an outcome. @throws UnavailableError for a database that does not answer for long. */
  async #follow(job: LaunchJob, tables: QueueTables, run: string): Promise<void> {
    let answered = performance.now();
    /** Since when the database has answered every time. */
    let steady = answered;
    for (;;) {
      try {
        const isJudging = performance.now() - steady > this.#options.leaseSeconds * 1000;
        if (await this.#poll(job, tables, run, isJudging)) return;
        answered = performance.now();
      } catch (error) {
        job.signal.throwIfAborted();
        steady = performance.now();
        if (!(error instanceof UnavailableError) || steady - answered > SILENCE_SECONDS * 1000) throw error;
      }
      await sleep(this.#options.pollSeconds * 1000, undefined, { signal: job.signal });
    }
  }

  /**
   * Takes what workers have left.
   *
   * @param isJudging whether an arm whose worker is lost counts as failed: right after the database was away, workers
   *   have not been able to say that they are there.
   * @returns whether every arm has an outcome.
   */
  async #poll(job: LaunchJob, tables: QueueTables, run: string, isJudging: boolean): Promise<boolean> {
    const { arms, outcomes, report } = job;
    if (!(await tables.keepAlive(run, this.#options.leaseSeconds)))
      throw new ValidationError(`run is no longer in the queue: ${run}; run again with --resume`);
    const listDone = () => arms.filter((arm) => outcomes.has(arm));
    for (const outcome of await tables.readOutcomes(run, listDone())) {
      outcomes.accept(outcome.arm, outcome);
      report(outcome.arm, 1);
    }
    for (const [arm, share] of await tables.readShares(run)) if (!outcomes.has(arm)) report(arm, share);
    for (const arm of isJudging ? await tables.listLost(run) : [])
      outcomes.fail(
        arm,
        new ProcessDiedError(
          `worker of the queue was lost, and so was that of the first try: ${arm}; read the output of the workers, then run again with --retry-failed`,
        ),
      );
    return listDone().length === arms.length;
  }
}
