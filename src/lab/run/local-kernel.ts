import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../../core/files/files.ts';
import { withFoundPath } from '../../data/prepared/prepared.ts';
import { createHttpAuthority, type HttpAuthority } from '../../kernel/client/http-authority.ts';
import type { SlicePolicy } from '../../kernel/policies/policy.ts';
import { formatPolicyRef } from '../../kernel/policies/policy-ref.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { findLastWords } from '../launch/arm-process.ts';
import { buildChildEnvironment, findOwnProgram } from '../launch/own-process.ts';

/** The kernel refuses no slice of an experiment for its size: the policy limits it. */
const MOST_TURNS = 1_000_000;

/** Of one question; the walk of a slice has a limit of its own. */
const TIMEOUT_SECONDS = 60;

/** Where the kernel listens, in what it prints. */
const LISTENS = /kernel listens on (\S+)/;

/** A row of `ragpp kernel keygen` and `inspect`. */
const SIGNING_KEY = /^[0-9a-f]{16}\s+signing\s+([0-9a-f]{64})$/m;

/** What a process may say before it ends. */
const WORDS = 4000;

function buildKernelArguments(...words: readonly string[]): string[] {
  const { nodeOptions, main } = findOwnProgram();
  return [...nodeOptions, main, 'kernel', ...words];
}

async function runKernelCommand(...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, buildKernelArguments(...words));
  return stdout;
}

/** The public part of a file of keys, which is made where there is none. */
async function printKeys(keyFile: string): Promise<string> {
  if (!existsSync(keyFile)) {
    makeFolder(dirname(keyFile));
    try {
      return await runKernelCommand('keygen', keyFile);
    } catch (error) {
      if (!existsSync(keyFile)) throw error; // another run was first
    }
  }
  return runKernelCommand('inspect', keyFile);
}

/**
 * The public key of a file of keys, which is made where there is none. The keys are made and read by other processes: this one holds no secret.
 *
 * @throws AdmissibilityError for a file that cannot be used.
 */
export async function readLocalKey(keyFile: string): Promise<string> {
  try {
    const [, publicKey] = SIGNING_KEY.exec(await printKeys(keyFile)) ?? [];
    if (publicKey !== undefined) return publicKey;
    throw new Error('no key of it signs');
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    throw new AdmissibilityError(
      'kernel-unreachable',
      `keys of the local kernel cannot be used: ${findLastWords(stderr) || message}; move ${keyFile} away to have new ones`,
      { keyFile },
    );
  }
}

/** A folder of this user alone, which is removed with this process at the latest. */
export class TemporaryFolder {
  readonly path: string;

  constructor(prefix: string) {
    this.path = mkdtempSync(join(tmpdir(), prefix));
    process.once('exit', this.remove);
  }

  readonly remove = (): void => {
    process.off('exit', this.remove);
    rmSync(this.path, { recursive: true, force: true });
  };
}

/** What a kernel is started with. */
export interface LocalKernelOptions {
  /** Whose dataset it loads by itself. */
  readonly config: ExperimentConfig;
  readonly policies: readonly SlicePolicy[];
  readonly keyFile: string;
  /** Of prepared datasets; null prepares it in a folder of its own. */
  readonly cacheFolder: string | null;
}

/** `ragpp kernel serve` for one run, on a free port of this machine. It ends with this process, however that ends. */
export class LocalKernel {
  readonly authority: HttpAuthority;
  readonly #child: ChildProcess;
  readonly #folder: TemporaryFolder;

  private constructor(child: ChildProcess, baseUrl: string, folder: TemporaryFolder) {
    this.#child = child;
    this.#folder = folder;
    this.authority = createHttpAuthority({ baseUrl, timeoutSeconds: TIMEOUT_SECONDS });
  }

  /** For tests that end it. */
  get pid(): number {
    return this.#child.pid as number;
  }

  /** @throws AdmissibilityError with the last words of a kernel that does not start. */
  static async start(options: LocalKernelOptions): Promise<LocalKernel> {
    const folder = new TemporaryFolder('ragpp-kernel-');
    try {
      const child = spawn(process.execPath, buildKernelArguments('serve', ...writeArguments(folder.path, options)), {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true, // Ctrl-C in a terminal is for us alone
        env: buildChildEnvironment(),
      });
      return new LocalKernel(child, await awaitAddress(child), folder);
    } catch (error) {
      folder.remove();
      throw error;
    }
  }

  /** Asks it to end, and waits for that. */
  async close(): Promise<void> {
    this.authority.close();
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
    this.#folder.remove();
  }
}

/** Writes the config and the policies. @returns the words of the command line. */
function writeArguments(folder: string, { config, policies, keyFile, cacheFolder }: LocalKernelOptions): string[] {
  const { dataset, ...rest } = config;
  const located = withFoundPath(dataset) as { readonly path?: unknown };
  const found = typeof located.path === 'string' ? { ...located, path: resolve(located.path) } : located;
  const configFile = join(folder, 'config.yaml');
  // JSON is YAML. What the arms refer to is resolved, and the kernel reads none of it.
  writeFileSync(configFile, JSON.stringify({ ...rest, dataset: found }));
  const own = new Map(policies.map((policy) => [formatPolicyRef(policy), policy]));
  const files = [...own.values()].map((policy, i) => {
    const file = join(folder, `policy-${i}.yaml`);
    writeFileSync(file, JSON.stringify(policy));
    return file;
  });
  const cache = cacheFolder === null ? join(folder, 'cache') : resolve(cacheFolder);
  return [
    ...[configFile, '--as-of', '--keys', resolve(keyFile), '--cache', cache, '--max-turns', String(MOST_TURNS)],
    ...files.flatMap((file) => ['--policy', file]),
  ];
}

/** @throws AdmissibilityError if the process ends before it listens. */
function awaitAddress(child: ChildProcess): Promise<string> {
  let [printed, words] = ['', ''];
  return new Promise((resolvePromise, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-WORDS);
      const [, address] = LISTENS.exec(printed) ?? [];
      if (address !== undefined) resolvePromise(address);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-WORDS);
    });
    const fail = (end: string) =>
      reject(
        new AdmissibilityError(
          'kernel-unreachable',
          `local kernel did not start: ${findLastWords(words.trim()) || end}; run ragpp kernel serve by itself to see more`,
        ),
      );
    child.once('error', ({ message }) => fail(message));
    child.once('close', (code, signal) => fail(signal === null ? `exit code ${code}` : `killed by ${signal}`));
  });
}
