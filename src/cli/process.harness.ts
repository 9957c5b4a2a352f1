import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { findBuiltModule } from '../core/built-module.harness.ts';
import { PROJECT_ROOT } from '../lab/run/environment.ts';

/** The end of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program as a process of its own. */
export interface SampleProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
}

/** The working folder, the environment and the standard input of a process. */
interface Place {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Starts the command line of the built package. @param onStderr receives all output so far. */
export function startRagpp(
  argv: readonly string[],
  onStderr: (text: string, started: SampleProcess) => void = () => {},
  place: Place = {},
): SampleProcess {
  return startNode([findBuiltModule('cli/main'), ...argv], onStderr, place);
}

/** Starts the command line of the source, whose results name the versions of code that this process has. */
export function startSourceRagpp(argv: readonly string[]): SampleProcess {
  return startNode(['--import', 'tsx', join(PROJECT_ROOT, 'src', 'cli', 'main.ts'), ...argv], () => {}, {});
}

function startNode(
  words: readonly string[],
  onStderr: (text: string, started: SampleProcess) => void,
  { cwd = PROJECT_ROOT, env, input = '' }: Place,
): SampleProcess {
  const child = spawn(process.execPath, words, { cwd, ...(env && { env }) });
  child.stdin.on('error', () => {}); // it may end before it reads
  child.stdin.end(input);
  const written = { stdout: '', stderr: '' };
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...written }));
  });
  const started: SampleProcess = { pid: child.pid as number, ended, kill: (signal) => void child.kill(signal) };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.stderr += text;
    onStderr(written.stderr, started);
  });
  return started;
}

/** The processes that another one has started with some word in their command lines. */
function findChildProcesses(pid: number, word: string): number[] {
  try {
    const found = execFileSync('pgrep', ['-P', String(pid), '-f', '--', word], { encoding: 'utf8' });
    return found.trim().split('\n').map(Number);
  } catch {
    return []; // pgrep's exit code for no match
  }
}

/** The processes that run arms for another one. */
export function findWorkers(pid: number): number[] {
  return findChildProcesses(pid, '--serve');
}

/** The process that does the work of a program started with {@link startRagpp}. @throws Error if there is none. */
export function findWorkProcess(pid: number): number {
  const [work] = findChildProcesses(pid, 'cli/work');
  if (work === undefined) throw new Error(`process has no work: ${pid}`);
  return work;
}

/** The kernel that a program started with {@link startRagpp} has started; undefined if there is none yet. */
export function findLocalKernel(pid: number): number | undefined {
  const [work] = findChildProcesses(pid, 'cli/work');
  return work === undefined ? undefined : findChildProcesses(work, 'kernel serve')[0];
}

/** Resolves with the first result that is not undefined. @throws Error after some time. */
export async function awaitFound<T>(look: () => T | undefined, seconds = 50): Promise<T> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`nothing has come in seconds: ${seconds}`);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}
