import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UnavailableError } from '../src/core/errors/errors.ts';

/**
 * Runs a script of this folder in a process of its own, with nothing loaded or compiled yet.
 *
 * @param task handed over as JSON, the script's only argument.
 * @param environment variables besides those of this process.
 * @param watch `note` gets each string that the script sends before its answer; `signal` ends the process.
 * @returns the message it sends back.
 * @throws UnavailableError when it ends before that.
 */
export function runInChild<T>(
  script: string,
  task: unknown,
  environment: Readonly<Record<string, string>> = {},
  { note, signal }: { readonly note?: (text: string) => void; readonly signal?: AbortSignal } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(task)], {
      env: { ...process.env, ...environment },
      execArgv: ['--import', 'tsx'], // whatever loads TypeScript in this process
    });
    signal?.addEventListener('abort', () => child.kill('SIGKILL'));
    child.on('message', (message) => (typeof message === 'string' && note ? note(message) : resolve(message as T)));
    child.once('exit', (code, signal) =>
      reject(
        new UnavailableError(
          `measurement by ${script}`,
          `the process ended with ${code ?? signal}; read its output above`,
        ),
      ),
    );
  });
}
