import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { ProcessDiedError } from '../../core/errors/errors.ts';
import { findLastWords } from './last-words.ts';
import type { LaunchJob, ReportShare } from './launcher.ts';
import { describeMemoryAdvice, isOutOfMemory } from './memory-advice.ts';
import { buildChildEnvironment } from './parent-watch.ts';

/** A message to the process: run an arm. */
export interface ArmRequest {
  readonly arm: string;
}

/** What it tells: that it has opened the run, how much of an arm is done, and that the arm's outcome is in the folder. */
export type ArmReply = { readonly ready: true } | { readonly share: number } | { readonly done: true };

/** Characters of a process's last words that are kept. */
const LAST_WORDS = 4000;

/** What a process that runs arms is started from. */
export type ArmProcessJob = Pick<LaunchJob, 'folder' | 'program' | 'backend' | 'cacheFolder'>;

/** The arguments of the command line that runs arms of a begun run. */
export function buildArmArguments({ folder, backend, cacheFolder }: Omit<ArmProcessJob, 'program'>) {
  return ['arm', folder, '--backend', backend, '--cache', cacheFolder];
}

/** A process of its own that runs arms one after the other, with a backend of its own. It ends with us, however we end. */
export class ArmProcess {
  readonly #child: ChildProcess;
  #lastWords = '';
  #ready = false;
  #onReply: (reply: ArmReply) => void = () => {};
  readonly #ended: Promise<ProcessDiedError>;

  constructor(job: ArmProcessJob) {
    const { main, nodeOptions } = job.program;
    this.#child = fork(main, [...buildArmArguments(job), '--serve'], {
      execArgv: [...nodeOptions],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true, // Ctrl-C in a terminal is for us alone
      env: buildChildEnvironment(),
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
    });
    this.#child.on('message', (reply: ArmReply) => {
      if ('ready' in reply) this.#ready = true;
      else this.#onReply(reply);
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

  /** Runs an arm. @returns null when its outcome is in the folder, or how the process died before that. */
  run(arm: string, report: ReportShare): Promise<ProcessDiedError | null> {
    const done = new Promise<null>((resolve) => {
      this.#onReply = (reply) => {
        if ('share' in reply) report(reply.share);
        else resolve(null);
      };
    });
    this.#child.send({ arm } satisfies ArmRequest);
    return Promise.race([done, this.#ended]);
  }

  /** Whether the process became ready to run arms; if not, its end is not the failure of an arm. */
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
