import { ModuleVersions } from '../../core/code/module-versions.ts';
import { findOwnModule } from '../../core/code/package-root.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute, once } from '../../core/values/once.ts';
import { findInstalledVersion, NUMERIC_PACKAGES } from './environment.ts';

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
export const RECORD_MODULES = ['lab/run/arm-runner', 'lab/run/arm-task'] as const;

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
 * Version of what some modules compute: all code that they reach through their imports, as {@link ModuleVersions} hashes
 * it, with the numeric packages that this code loads, and the processor's architecture.
 *
 * @param modules file URLs (`import.meta.url`) or paths. An import of types alone leads nowhere: an object whose class a
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

/** Version of everything that an arm's record comes from: its stages, and what reads configs, tunes, ranks and writes. */
export const recordVersion = createCodeVersion(RECORD_MODULES);

/** Version of everything that trains: a stage that holds what was learned depends on it too. */
export const learningVersion = createCodeVersion(TRAINING_MODULES);
