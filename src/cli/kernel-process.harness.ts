import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { slicePolicySchema } from '../kernel/policies/policy.ts';
import { formatPolicyRef } from '../kernel/policies/policy-ref.ts';
import { createKeyFile } from '../kernel/service/key-file.ts';
import { generateKey, type KeyRing } from '../kernel/signatures/kernel-keys.ts';
import { awaitFound, type Ended, startRagpp } from './process.harness.ts';

/** The smallest of the data that are built in, made up by a seed. */
const DATA = ['--dataset', 'synthetic', '--set', 'dataset.conversations=3'];

/** A kernel in a process of its own. */
export interface KernelProcess {
  readonly baseUrl: string;
  readonly policyRef: string;
  readonly keys: KeyRing;
  readonly keyFile: string;
  readonly folder: string;
  readonly pid: number;
  /** Everything on stdout and stderr so far is in the end of the process. */
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  /** Kills it if it runs, and removes its files. */
  dispose(): Promise<void>;
}

/** Starts `ragpp kernel serve`. @param more further options. */
export async function startKernel(...more: readonly string[]): Promise<KernelProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'));
  const [keyFile, policyFile, readyFile] = ['keys.json', 'policy.yaml', 'ready'].map((name) => join(folder, name)) as [
    ...[string, string, string],
  ];
  const keys = { keys: [generateKey()] };
  createKeyFile(keyFile, keys);
  writeFileSync(policyFile, 'id: sample\nunanchored: all\n');
  const files = [
    '--keys',
    keyFile,
    '--policy',
    policyFile,
    '--ready-file',
    readyFile,
    '--cache',
    join(folder, 'cache'),
  ];
  const { pid, ended, kill } = startRagpp(['kernel', 'serve', ...DATA, ...files, ...more]);
  const read = () => {
    try {
      return readFileSync(readyFile, 'utf8').trim();
    } catch {
      return undefined;
    }
  };
  const early = ended.then(({ stderr }) => Promise.reject(new Error(`kernel ended: ${stderr}`)));
  early.catch(() => {}); // it ends in every test
  const baseUrl = await Promise.race([awaitFound(read), early]);
  return {
    ...{ baseUrl, keys, keyFile, folder, pid, ended, kill },
    policyRef: formatPolicyRef(slicePolicySchema.parse({ id: 'sample', unanchored: 'all' })),
    async dispose() {
      kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
