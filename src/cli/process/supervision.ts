import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { closeProgress, printError, restoreTerminal } from '../../core/terminal/progress.ts';
import { describeMemoryAdvice } from '../../lab/launch/arm-process.ts';
import { buildChildEnvironment, type Program } from '../../lab/launch/own-process.ts';

/**
 * True if a command line starts a service, or what starts the process of its work itself. A service is one process that
 * hears its signals itself: SIGTERM and SIGINT end it in order, and it ends with 0.
 */
export function isService([command, inner]: readonly string[]): boolean {
  return ['serve', 'work'].includes(command ?? '') || ['kernel serve', 'memory recall'].includes(`${command} ${inner}`);
}

/** The parent of a process, and its title or command line. */
interface Ancestor {
  readonly parent: number;
  readonly title: string;
}

function describeProcess(id: number): Ancestor {
  if (existsSync('/proc/self/stat')) {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // state, parent
    return { parent: Number(parent), title: readFileSync(`/proc/${id}/cmdline`, 'utf8') };
  }
  const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(id)], { encoding: 'utf8' }).trim();
  const space = line.indexOf(' ');
  return { parent: Number(line.slice(0, space)), title: line.slice(space + 1) };
}

/**
 * The npm that runs this program as a script, which may be several processes away; null for none, and where the system
 * does not list processes.
 */
function findNpmProcess(): number | null {
  if (process.env.npm_lifecycle_event === undefined) return null;
  try {
    for (let id = process.ppid; id > 1; ) {
      const { parent, title } = describeProcess(id);
      if (/^npm\b/.test(title)) return id;
      id = parent;
    }
  } catch {
    // Without a list of processes this program ends with its own parent alone.
  }
  return null;
}

/** True if a process exists. */
function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Signals that ask the program to end, and its exit codes then. */
export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** After this time, work that has not ended in order is killed. */
const GRACE_MILLISECONDS = 500;

/** The time between two looks at whether npm still runs. */
const POLL_MILLISECONDS = 200;

const RESUME = 'what was cached stays: a run goes on from there with --resume, a training when it is started again';
const IMPORT_AGAIN = 'the records that were written stay: run the same import again with --replace';
const ADD_AGAIN = 'run it again: the download of a public model goes on where it stopped';
const INSTALL_AGAIN = 'run it again: wheels that were downloaded are not downloaded again';

/** What is left of the work, and how it goes on. */
function describeRest([command, inner]: readonly string[]): string {
  if (command === 'encoder') return ADD_AGAIN;
  if (command === 'backend') return INSTALL_AGAIN;
  if (command !== 'memory') return RESUME;
  return inner === 'import' ? IMPORT_AGAIN : 'run it again';
}

/** The message for work that a signal ended. */
function describeEndSignal(signal: NodeJS.Signals): string {
  if (signal in EXIT_CODES) return 'interrupted';
  if (signal === 'SIGKILL') return 'killed by SIGKILL; the machine may have run out of memory';
  if (signal === 'SIGABRT')
    return `ended by SIGABRT; if the lines above report a heap out of memory, ${describeMemoryAdvice()}`;
  return `ended by ${signal}`;
}

function report(signal: NodeJS.Signals, argv: readonly string[]): void {
  restoreTerminal();
  printError(`\nragpp: ${describeEndSignal(signal)}; ${describeRest(argv)}\n`);
}

/**
 * Runs the program in a process of its own and ends it when this process is asked to end: cleanly if its event loop runs, by force if it is busy. A process
 * that computes does not hear signals by itself, since Node delivers them between two turns of the event loop.
 *
 * @returns the exit code.
 */
export async function supervise(program: Program, argv: readonly string[]): Promise<number> {
  try {
    return await superviseWork(program, argv);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    printError(`ragpp: cannot start the process that does the work: ${reason}; end other processes and run again\n`);
    return 1;
  }
}

/** Calls back once the npm that runs this program is gone: a killed npm tells its script nothing. */
function endAfterNpm(end: () => void): void {
  const npm = findNpmProcess();
  if (npm === null) return;
  const watch = setInterval(() => {
    if (isRunning(npm)) return;
    clearInterval(watch);
    end();
  }, POLL_MILLISECONDS);
  watch.unref();
}

/** @throws what the system reports where no process can be started. */
async function superviseWork({ nodeOptions, main }: Program, argv: readonly string[]): Promise<number> {
  const work = spawn(process.execPath, [...nodeOptions, main, ...argv], {
    stdio: 'inherit',
    env: buildChildEnvironment(),
  });
  let heard: keyof typeof EXIT_CODES | null = null;
  const end = (signal: keyof typeof EXIT_CODES) => {
    heard ??= signal;
    work.kill('SIGINT');
    setTimeout(() => work.kill('SIGKILL'), GRACE_MILLISECONDS).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(signal));
  endAfterNpm(() => end('SIGTERM'));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    work.once('error', reject);
    work.once('exit', (...end) => resolve(end));
  });
  const ending = heard ?? signal ?? (code === EXIT_CODES.SIGINT ? 'SIGINT' : null);
  if (ending === null) return code as number;
  report(ending, argv);
  return 128 + constants.signals[ending];
}

/** A command that worked and reported a failed check. Exit code 1. */
export class FailedCheck extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'FailedCheck';
  }
}

const controller = new AbortController();

/** Aborted when the program is asked to end; listeners must finish before they return. */
export const interruption: AbortSignal = controller.signal;

/** Ends the process, after listeners have released their resources. */
function listenForEnd(signal: keyof typeof EXIT_CODES): () => void {
  const endProcess = () => {
    controller.abort();
    closeProgress();
    setImmediate(() => process.exit(EXIT_CODES[signal]));
  };
  process.on(signal, endProcess);
  return () => void process.off(signal, endProcess);
}

/**
 * Ends the process in order on SIGINT, which also is how the supervisor asks for it. During synchronous work the signal
 * waits, and the supervisor does not.
 */
export function endOnInterrupt(): void {
  listenForEnd('SIGINT');
}

/**
 * Ends the process in order on SIGTERM while something is awaited. At all other times SIGTERM has its usual effect, so
 * that it ends the process at once also in the middle of synchronous work.
 */
export async function runHeedingTermination<T>(work: () => Promise<T>): Promise<T> {
  const ignore = listenForEnd('SIGTERM');
  try {
    return await work();
  } finally {
    ignore();
  }
}
