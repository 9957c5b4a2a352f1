import { join } from 'node:path';
import { ConfigurationError, RagPlusPlusError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { datasetOptions, loadDataset } from '../../data/registry.ts';
import { Kernel } from '../../kernel/authority/kernel.ts';
import { type SlicePolicy, slicePolicySchema } from '../../kernel/policies/policy.ts';
import { formatPolicyRef } from '../../kernel/policies/policy-ref.ts';
import { createKernelService } from '../../kernel/service/kernel-service.ts';
import { createKeyFile, readKeyFile, readKeys, writeKeyFile } from '../../kernel/service/key-file.ts';
import { computeFingerprint } from '../../kernel/signatures/fingerprint.ts';
import {
  derivePublicKey,
  generateKey,
  type KeyRing,
  publicKeySchema,
  rotateKeys,
} from '../../kernel/signatures/kernel-keys.ts';
import { readPublicKey } from '../../kernel/signatures/public-key.ts';
import { isSignedBy } from '../../kernel/signatures/signature.ts';
import { type SliceExport, sliceExportSchema } from '../../kernel/signatures/slice-export.ts';
import { applyOverrides, readYaml } from '../../lab/composition/config-file.ts';
import { openConfig } from '../../lab/config/config.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { alignColumns } from '../process/columns.ts';
import { type ListenOptions, readBounds, serveUntilEnd } from '../process/listening.ts';
import { FailedCheck } from '../process/supervision.ts';

/** The public part of keys, a line each. */
function formatKeys({ keys }: KeyRing): string {
  const rows = keys.map(({ keyId, state, privateKey }) => [keyId, state, derivePublicKey(privateKey)]);
  return `${alignColumns([['key', 'state', 'public key'], ...rows])}\n`;
}

/** A policy as YAML or JSON. @throws ConfigurationError with every fault. */
function readPolicyFile(path: string): SlicePolicy {
  return parse(slicePolicySchema, readYaml(path), path);
}

interface InspectOptions {
  readonly policy: readonly string[];
  readonly publicKey?: string;
}

/** A file may hold secrets: no error quotes its text. */
function readJson(path: string): unknown {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch {
    const expected = 'JSON: keys of ragpp kernel keygen, or a slice';
    throw new ConfigurationError(path, [{ path: '(text)', expected, got: `${text.length} characters` }]);
  }
}

function describeSignature(slice: SliceExport, publicKey: string | undefined): string {
  if (publicKey === undefined) return 'not checked; give --public-key';
  const key = readPublicKey(parse(publicKeySchema, publicKey, '--public-key'));
  return isSignedBy(slice, key) ? 'that of the public key' : 'not that of the public key';
}

function describeSlice(slice: SliceExport, signature: string): string[][] {
  const format = (moment: number) => new Date(moment).toISOString();
  return [
    ['turns', String(slice.turnIds.length)],
    [
      'fingerprint',
      computeFingerprint(slice.turnIds) === slice.fingerprint ? 'that of the turns' : 'not that of the turns',
    ],
    ['signature', signature],
    ['signed by key', slice.keyId],
    ['issued', format(slice.issuedAt)],
    ['expires', format(slice.expiresAt)],
    ['policy', slice.policyRef],
    ['corpus', slice.corpusVersion],
    ['anchor', slice.anchorTurnId ?? 'none'],
    ['refines', slice.previous ?? 'nothing'],
  ];
}

export function runKernelInspect(path: string | undefined, { policy, publicKey }: InspectOptions): void {
  if (path === undefined && policy.length === 0)
    throw new ConfigurationError('the command line', [
      { path: '[file]', expected: 'a file of keys, a slice, or --policy', got: 'nothing' },
    ]);
  for (const file of policy) printOut(`${formatPolicyRef(readPolicyFile(file))}\n`);
  if (path === undefined) return;
  const content = readJson(path);
  if (content !== null && typeof content === 'object' && 'keys' in content) {
    printOut(formatKeys(readKeyFile(path)));
    return;
  }
  const slice = parse(sliceExportSchema, content, path);
  const signature = describeSignature(slice, publicKey);
  printOut(`${alignColumns(describeSlice(slice, signature))}\n`);
  if (signature.startsWith('not that')) throw new FailedCheck(signature);
}

export function runKernelKeygen(path: string): void {
  const ring: KeyRing = { keys: [generateKey()] };
  createKeyFile(path, ring);
  printOut(formatKeys(ring));
}

export function runKernelRotate(path: string, { retire }: { readonly retire?: true }): void {
  const { keys } = rotateKeys(readKeyFile(path));
  const ring = {
    keys: keys.map((key) => (retire && key.state === 'verifying' ? { ...key, state: 'retired' as const } : key)),
  };
  writeKeyFile(path, ring);
  printOut(formatKeys(ring));
}

interface ServeOptions extends ListenOptions {
  readonly dataset?: string;
  readonly set: readonly string[];
  readonly policy: readonly string[];
  readonly keys?: string;
  readonly asOf?: true;
  readonly validSeconds: number;
  readonly maxTurns: number;
  readonly walkSeconds: number;
  readonly cacheSlices: number;
  readonly cache: string;
}

/** The dataset of a config, or the one that is named. */
async function readDatasetOptions(config: string | undefined, { dataset, set }: ServeOptions) {
  if (config !== undefined) {
    return (await openConfig(config, set, dataset ?? null)).dataset;
  }
  if (dataset === undefined)
    throw new ConfigurationError('the command line', [
      { path: '[config]', expected: 'a config, or --dataset with a dataset of ragpp data', got: 'nothing' },
    ]);
  return parse(datasetOptions, applyOverrides({ dataset: { name: dataset } }, set).dataset, 'the dataset');
}

async function loadCorpus(config: string | undefined, options: ServeOptions): Promise<Corpus> {
  const chosen = await readDatasetOptions(config, options);
  const cacheFolder = join(options.cache, 'datasets');
  return (await loadDataset(chosen, { cacheFolder, progress: createTerminalProgress() })).corpus;
}

function describe(error: unknown): string {
  return error instanceof RagPlusPlusError ? error.message : String(error instanceof Error ? error.stack : error);
}

/** Reads the keys again on SIGHUP. Keys that cannot be used change nothing. */
function followKeys(kernel: Kernel, path: string | undefined): () => void {
  const read = () => {
    try {
      if (path === undefined)
        throw new ConfigurationError('RAGPP_KERNEL_KEYS', [
          { path: 'SIGHUP', expected: 'keys in a file', got: 'keys of the environment, which needs a restart' },
        ]);
      kernel.useKeys(readKeyFile(path));
      printOut(`kernel signs by key ${kernel.keys[0]?.keyId}\n`);
    } catch (error) {
      printError(`kernel keeps the keys that it has: ${describe(error)}\n`);
    }
  };
  process.on('SIGHUP', read);
  return () => void process.off('SIGHUP', read);
}

/** Serves until it is asked to end. */
export async function runKernelServe(config: string | undefined, options: ServeOptions): Promise<void> {
  const keys = readKeys(options.keys);
  if (options.policy.length === 0)
    throw new ConfigurationError('the command line', [
      { path: '--policy', expected: 'a file with a policy', got: 'nothing' },
    ]);
  const policies = options.policy.map(readPolicyFile);
  const corpus = await loadCorpus(config, options);
  const kernel = new Kernel({
    ...{ corpus, policies, keys, validSeconds: options.validSeconds, allowAsOf: options.asOf === true },
    ...{ maxTurns: options.maxTurns, maxWalkSeconds: options.walkSeconds, cacheEntries: options.cacheSlices },
  });
  const service = createKernelService(kernel, {
    ...readBounds(options),
    onError: (error) => printError(`kernel: ${describe(error)}\n`),
  });
  const stopFollowing = followKeys(kernel, options.keys);
  try {
    await serveUntilEnd(service, 'kernel', options);
  } finally {
    stopFollowing();
  }
}
