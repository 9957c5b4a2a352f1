import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that another part of the system has. */
export interface ExternalRun {
  /** The folder that it runs in. */
  readonly folder: string;
  /** Changes of the environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Ends the program and all that it has started. */
  readonly signal: AbortSignal;
}

/** A program that was ended, that could not be started or that reports an error. */
export class ExternalProgramError extends Error {
  /** The text that it wrote to both of its streams. */
  readonly output: string;

  constructor(message: string, output: string, options?: ErrorOptions) {
    super(message, options);
    this.output = output;
  }
}

/** True if a program is in one of the folders of PATH. */
export function isProgramFound(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

/** Ends a program with its children, which are in a group of processes of its own. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Runs a program to its end, without a terminal.
 *
 * @returns what it wrote to stdout.
 * @throws ExternalProgramError if it cannot be started, ends with another code than 0, or the signal ends it.
 */
export function runExternal(
  command: string,
  words: readonly string[],
  { folder, environment = {}, signal }: ExternalRun,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const written = { stdout: '', output: '' };
    const fail = (reason: string, cause?: unknown) =>
      reject(new ExternalProgramError(`${command} ${reason}`, written.output, { cause }));
    const end = () => {
      killGroup(child);
      fail('was interrupted');
    };
    signal.addEventListener('abort', end, { once: true });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        written.output += text;
        if (stream === child.stdout) written.stdout += text;
      });
    child.once('error', (error) => {
      signal.removeEventListener('abort', end);
      fail(`cannot be started: ${error.message}`, error);
    });
    child.once('close', (code, killer) => {
      signal.removeEventListener('abort', end);
      if (code === 0) resolve(written.stdout);
      else fail(killer === null ? `ended with ${code}` : `was ended by ${killer}`);
    });
    if (signal.aborted) end();
  });
}

/** The line of an output that tells most of an error: the first that reports one, or else the last. */
export function findErrorLine(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const written = lines.filter((line) => line !== '');
  const reported = written.find((line) => /\berror\b/i.test(line) && !/^npm error (?:code|errno|syscall)\b/.test(line));
  return reported ?? written.at(-1) ?? 'it wrote nothing';
}
