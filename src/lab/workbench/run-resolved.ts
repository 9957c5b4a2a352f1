import { activeBackend, hasActiveBackend } from '../../core/tensors/active-backend.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import {
  closeProgress,
  createTerminalProgress,
  ignoreProgress,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { findFittedArm } from '../config/fitted-arm.ts';
import { withCountedLook } from '../measure/test-looks.ts';
import { type Execute, executeHere } from '../run/execution.ts';
import { type FinishedRun, type OpenRunContext, runExperiment } from '../run/run.ts';
import { FinishedExperiment } from './finished-experiment.ts';

/** What `Experiment.run` passes on. */
interface ResolvedRun {
  readonly config: ExperimentConfig;
  readonly dataset: Dataset | null;
  readonly cacheFolder: string | null;
  /** Null shows nothing; undefined shows bars on a terminal alone. */
  readonly progress: StartProgress | null | undefined;
  readonly signal: AbortSignal | undefined;
  /** The folder of runs whose list counts a look at a test split. */
  readonly countedIn: string | undefined;
}

function chooseProgress(given: StartProgress | null | undefined): StartProgress {
  if (given !== undefined) return given ?? ignoreProgress;
  return process.stderr.isTTY ? createTerminalProgress() : ignoreProgress;
}

/** The backend that the config names; for `auto` the active one, if there is one. */
async function chooseBackend({ backend }: ExperimentConfig): Promise<BackendName> {
  return backend === 'auto' && hasActiveBackend() ? activeBackend() : useBackend(backend);
}

/**
 * Runs the arms of an experiment, or fits its arm.
 *
 * @param execute as of `runExperiment`, for arms that are not fitted.
 */
export async function runOrFit(
  config: ExperimentConfig,
  context: OpenRunContext,
  execute: Execute = executeHere,
  executeRound: Execute = executeHere,
): Promise<FinishedRun> {
  if (findFittedArm(config) === null) return runExperiment(config, context, execute, executeRound);
  return (await import('../training/training-run.ts')).runTraining(config, context);
}

/** Runs the arms of a config in this process and measures them. */
export async function runResolved({
  config,
  dataset,
  cacheFolder,
  ...given
}: ResolvedRun): Promise<FinishedExperiment> {
  const { signal, countedIn } = given;
  signal?.throwIfAborted();
  try {
    const backend = await chooseBackend(config);
    const finished = await runOrFit(config, {
      backend,
      cacheFolder,
      command: 'experiment()',
      progress: chooseProgress(given.progress),
      ...(dataset === null ? {} : { dataset }),
      ...(signal === undefined ? {} : { signal }),
    });
    return new FinishedExperiment(countedIn === undefined ? finished : withCountedLook(finished, countedIn));
  } finally {
    closeProgress();
  }
}
