import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { UnavailableError } from '../../src/core/errors/errors.ts';
import { type FoundPython, findPython, type Python } from './python.ts';
import { installPython } from './venv.ts';

/** The machine's own Python with torch 2, whose attention the peers call. */
export const findOwnTorch = (): Python =>
  findPython(['torch', 'numpy'], 'assert int(torch.__version__.split(".")[0]) >= 2');

/** A Python with torch: that of the machine, or a virtual environment, which takes some gigabytes at its first use. */
export function findTorch(): Python {
  const found = findOwnTorch();
  return 'versions' in found ? found : installPython('torch-requirements.txt');
}

/**
 * A script of this folder that answers questions one by one, so that its work and ours can take turns: a line of JSON
 * for each line of JSON. It uses as many threads as it likes.
 */
export class PeerProcess {
  readonly #script: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #complaint = '';

  constructor({ command, environment }: FoundPython, script: string, ...args: readonly string[]) {
    this.#script = script;
    const path = fileURLToPath(new URL(script, import.meta.url));
    this.#child = spawn(command, [path, ...args], { env: { ...process.env, ...environment } });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint += text;
    });
    this.#child.on('error', ({ message }) => {
      this.#complaint += message;
    });
    this.#child.stdin.on('error', () => {}); // the output ends too
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** @throws UnavailableError with the last line of its complaint. */
  async ask<T>(question: object): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await this.#lines.next();
    if (done !== true) return JSON.parse(value) as T;
    const reason = this.#complaint.trim().split('\n').at(-1) || 'the script ended without an answer';
    throw new UnavailableError(`peer ${this.#script}`, `${reason}; install python3 and the package`);
  }

  dispose(): void {
    this.#child.kill();
  }
}
