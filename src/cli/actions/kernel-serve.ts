import { join } from 'node:path';
import { ConfigurationError, RagPlusPlusError, StorageError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { createTerminalProgress } from '../../core/terminal/progress.ts';
import { printError, printOut } from '../../core/terminal/terminal.ts';
import { parse } from '../../core/validation/validation.ts';
import { datasetOptions, loadDataset } from '../../data/registry.ts';
import { Kernel } from '../../kernel/authority/kernel.ts';
import { createKernelService, type KernelService } from '../../kernel/service/kernel-service.ts';
import { readKeyFile, readKeys } from '../../kernel/service/key-file.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { openConfig } from '../../lab/config/config.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { readPolicyFile } from './kernel/policy-file.ts';

interface ServeOptions {
  readonly dataset?: string;
  readonly set: readonly string[];
  readonly policy: readonly string[];
  readonly keys?: string;
  readonly host: string;
  readonly allowHost: readonly string[];
  readonly port: number;
  readonly asOf?: true;
  readonly validSeconds: number;
  readonly maxTurns: number;
  readonly maxBody: number;
  readonly requestSeconds: number;
  readonly walkSeconds: number;
  readonly cacheSlices: number;
  readonly readyFile?: string;
  readonly cache: string;
}

/** Open requests may take this long after the service was asked to end. */
const CLOSE_SECONDS = 5;

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

/** Resolves when SIGTERM or SIGINT comes; a second one ends the process at once. */
function awaitEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

/** @returns the address. @throws StorageError if nothing can listen there. */
async function listen({ app }: KernelService, { host, port }: ServeOptions): Promise<string> {
  try {
    return await app.listen({ host, port, listenTextResolver: (address) => address });
  } catch (error) {
    throw new StorageError('listen', `${host}:${port}`, { cause: error, remedy: 'take another --port or --host' });
  }
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
    ...{ maxBodyBytes: options.maxBody, requestSeconds: options.requestSeconds },
    ...(options.allowHost.length > 0 && { hosts: options.allowHost }),
    onError: (error) => printError(`kernel: ${describe(error)}\n`),
  });
  const ended = awaitEnd();
  const stopFollowing = followKeys(kernel, options.keys);
  const address = await listen(service, options);
  printOut(`kernel listens on ${address}\n`);
  if (options.readyFile !== undefined) writeAtomic(options.readyFile, `${address}\n`);
  await ended;
  stopFollowing();
  await service.close(CLOSE_SECONDS);
}
