import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UnavailableError } from '../src/core/errors/errors.ts';

/**
 * Runs a script of this folder in a process of its own, with nothing loaded or compiled yet.
 *
 * @param task handed over as JSON, the script's only argument.
 * @param environment variables besides those of this process.
 * @returns the message it sends back.
 * @throws UnavailableError when it ends before that.
 */
export function runInChild<T>(
  script: string,
  task: unknown,
  environment: Readonly<Record<string, string>> = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(task)], {
      env: { ...process.env, ...environment },
      execArgv: ['--import', 'tsx'], // whatever loads TypeScript in this process
    });
    child.once('message', (answer) => resolve(answer as T));
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
