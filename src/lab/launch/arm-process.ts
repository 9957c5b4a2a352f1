import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import { ProcessDiedError } from '../../core/errors/errors.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import type { ProcessJob, ReportShare, RunData, SharedRequest, SharedWork } from './launcher.ts';
import { buildChildEnvironment } from './own-process.ts';

const OUT_OF_MEMORY = /heap out of memory|ERR_WORKER_OUT_OF_MEMORY/;

/** True if a dead process complained that V8's heap was full. */
export function isOutOfMemory(words: string): boolean {
  return OUT_OF_MEMORY.test(words);
}

/** Advice about a full heap of V8, of this process or of one that was started on this machine with the same options. */
export function describeMemoryAdvice(): string {
  const limitMebibytes = Math.round(getHeapStatistics().heap_size_limit / 2 ** 20);
  return `the heap limit is ${limitMebibytes} MiB; raise it with NODE_OPTIONS=--max-old-space-size=${2 * limitMebibytes}, or take fewer queries with --limit-queries`;
}

/** Lines that say what a process died of: of Node, of our command line, of Slurm. */
const REASON = /(?:^|\s)(?:FATAL ERROR|(?:[A-Z]\w*)?Error\b|ragpp\b|slurmstepd: error)/;

/** Places in code and what Node signs with, which follow a reason. */
const TRAILER = /^\s*(?:at .*|\d+: 0x[0-9a-f]+ .*|Node\.js v\S+|-+ Native stack trace -+)?$/;

/**
 * The line of a dead process's complaint that says most: the last one with a reason, else the last one that is no place
 * in code; empty where there is none. A reason that announces a list, as an error in a config does, comes with the
 * first of it.
 */
export function findLastWords(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !TRAILER.test(line));
  const at = lines.findLastIndex((line) => REASON.test(line));
  const line = (lines.at(at) ?? '').trim();
  const announced = line.endsWith(':') && at >= 0 ? (lines[at + 1] ?? '').trim() : '';
  return announced === '' ? line : `${line} ${announced}`;
}

/** A message to the process: run an arm, or do what arms share. */
export type ArmRequest = { readonly arm: string } | { readonly shared: SharedRequest };

/** The folder of a run, and the queue whose blobs are asked for what the cache lacks. */
export interface OpenFolder {
  readonly open: string;
  readonly queue?: { readonly url: string; readonly blobBytes: number };
}

/** A message before any arm: the folder of the run. Its data may come before it, for what arms share. */
export type OpenRequest = OpenFolder | { readonly data: RunData };

/**
 * What it tells: that its code is loaded, that it has opened the run, how much of an arm is done, and that the arm's
 * outcome is in the folder.
 */
export type ArmReply =
  | { readonly loaded: true }
  | { readonly ready: true }
  | { readonly share: number }
  | { readonly done: true; readonly stages?: StageCounts };

/** Characters of a process's last words that are kept. */
const LAST_WORDS = 4000;

/** The options of the command line that runs arms. */
export function buildArmOptions({ backend, cacheFolder }: Omit<ProcessJob, 'program'>): string[] {
  return ['--backend', backend, '--cache', cacheFolder];
}

/**
 * A process of its own that runs arms one after the other, with a backend of its own. It loads its code at once, and
 * waits for a run. It ends with us, however we end.
 */
export class ArmProcess {
  readonly #child: ChildProcess;
  #lastWords = '';
  #ready = false;
  #onReply: (reply: ArmReply) => void = () => {};
  readonly #ended: Promise<ProcessDiedError>;
  /** Resolves when the code is loaded. */
  readonly loaded: Promise<void>;

  constructor(job: ProcessJob) {
    const { main, nodeOptions } = job.program;
    this.#child = fork(main, ['arm', ...buildArmOptions(job), '--serve'], {
      execArgv: [...nodeOptions],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced', // JSON has no infinite numbers, which a config may hold
      detached: true, // Ctrl-C in a terminal is for us alone
      env: buildChildEnvironment(),
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
    });
    this.loaded = new Promise((resolve) => {
      this.#child.on('message', (reply: ArmReply) => {
        if ('loaded' in reply) resolve();
        else if ('ready' in reply) this.#ready = true;
        else this.#onReply(reply);
      });
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(this.#createDeathError(code, signal)));
      this.#child.on('error', ({ message }) => {
        // One that never began has no end; of a message to one that is gone, its end tells more.
        if (this.#child.pid === undefined)
          resolve(new ProcessDiedError(`worker process did not start: ${message}; use fewer workers or free memory`));
      });
    });
  }

  #createDeathError(code: number | null, signal: NodeJS.Signals | null): ProcessDiedError {
    const end = signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`;
    const words = this.#lastWords.trim();
    const last = findLastWords(words);
    const said = last === '' ? '' : `: ${last}`;
    const advice = `; ${isOutOfMemory(last) ? describeMemoryAdvice() : 'run again with --retry-failed'}`;
    const error = new ProcessDiedError(`worker process ${end}${said}${advice}`, { code, signal });
    error.stack = words;
    return error;
  }

  /** Has the process open a run, before anything is asked of it. */
  open(request: OpenRequest): void {
    this.#child.send(request);
  }

  /**
   * Runs an arm or does what arms share.
   *
   * @param note takes the cost of what is shared; that of an arm is in its outcome.
   * @returns null when it is done, or how the process died before that.
   */
  ask(request: ArmRequest, report: ReportShare, note?: SharedWork['note']): Promise<ProcessDiedError | null> {
    const done = new Promise<null>((resolve) => {
      this.#onReply = (reply) => {
        if ('share' in reply) return report(reply.share);
        if ('stages' in reply && reply.stages !== undefined) note?.(reply.stages);
        resolve(null);
      };
    });
    this.#child.send(request);
    return Promise.race([done, this.#ended]);
  }

  /** True if the process became ready to run arms; if not, its end is not the failure of an arm. */
  get isReady(): boolean {
    return this.#ready;
  }

  /** Lets the process end. */
  async endGracefully(): Promise<void> {
    const { exitCode, signalCode, connected } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const exit = once(this.#child, 'exit'); // there is no `close` after a channel that we have closed
    if (connected) this.#child.disconnect();
    await exit;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
