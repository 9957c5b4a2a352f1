import type { StartProgress } from '../../core/terminal/progress.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { type ExperimentInput, type Plugins, type ResolvedExperiment, resolveExperiment } from './experiment-input.ts';
import type { FinishedExperiment } from './finished-experiment.ts';

/** How an experiment is run: how to stop it, what shows its progress, and where it keeps intermediate results. */
export interface ExperimentRunOptions {
  /** Once it is aborted, `run` rejects with its reason. */
  readonly signal?: AbortSignal;
  /** By default bars on a terminal, and nothing elsewhere; null shows nothing. */
  readonly progress?: StartProgress | null;
  /** Where prepared data, embeddings and stages are kept for later runs, such as `.ragpp/cache`; by default they stay in memory. */
  readonly cache?: string | null;
  /** The folder of runs, such as `results/runs`, that counts a look at a test split; by default `save` counts it. */
  readonly results?: string;
}

/** An experiment that was checked and can be run. */
export interface Experiment {
  /** With every default, arm and sweep written out; what `ragpp config show` prints of a file. */
  readonly config: ExperimentConfig;
  /** Runs all arms in this process and measures them. */
  run(options?: ExperimentRunOptions): Promise<FinishedExperiment>;
}

async function run(
  { config, dataset }: ResolvedExperiment,
  { signal, progress, cache = null, results }: ExperimentRunOptions,
): Promise<FinishedExperiment> {
  const { runResolved } = await import('./run-resolved.ts');
  return runResolved({ config, dataset, cacheFolder: cache, progress, signal, countedIn: results });
}

/**
 * An experiment from code: what `ragpp run` makes of a config file, with the same numbers, without a file or a folder.
 *
 * @throws ConfigurationError with all faults at once.
 */
export function experiment<const P extends Plugins = readonly [], const Name extends string = string>(
  input: ExperimentInput<P, Name>,
): Experiment {
  const resolved = resolveExperiment(input as unknown as ExperimentInput<Plugins>);
  return { config: resolved.config, run: (options = {}) => run(resolved, options) };
}
