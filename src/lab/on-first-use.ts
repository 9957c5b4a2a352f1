import type { ServedArm } from '../memory/engine/served-arm.ts';
import type { ExperimentConfig } from './config/config-schema.ts';
import type { AskContext, AskedContext, QuestionInput } from './run/ask.ts';
import type { FinishedRun, OpenRunContext } from './run/run.ts';
import type { ServeInputs } from './run/served-arm.ts';

/**
 * Functions of the root that load most of the project: with the first call, so that an import of the package stays
 * quick.
 */

/**
 * Runs an experiment from config to result on the active backend: loads the data, tunes and ranks each arm or fits it,
 * measures. The result is the same for the same config, data and backend. An arm that fails is among the result's
 * failures.
 *
 * @throws RagPlusPlusError with the first failure's code where every arm fails.
 */
export async function runExperiment(config: ExperimentConfig, context: OpenRunContext): Promise<FinishedRun> {
  return (await import('./workbench/finished-experiment.ts')).runOrFit(config, context);
}

/**
 * An arm of an experiment for `openMemory({ arm })`, tuned as in a run, on the dev queries of the dataset. The caller
 * disposes it after the memory.
 *
 * @throws ValidationError for an unknown arm; what the dataset, the encoder and the tuning throw.
 */
export async function serveArm(config: ExperimentConfig, arm: string, context: ServeInputs): Promise<ServedArm> {
  return (await import('./run/served-arm.ts')).serveArm(config, arm, context);
}

/**
 * Asks one arm of an experiment a question of one's own, and packs its ranking into a prompt. The arm is tuned as in a
 * run, on the dev queries of the dataset.
 *
 * @throws ConfigurationError for a question that breaks its schema; ValidationError for an unknown arm, conversation,
 *   session, anchor or time zone; SensitiveTextError for a sensitive question to an encoder that is a service;
 *   DimensionMismatchError for a vector of another dimension than the turns have; UnavailableError without a vector if
 *   the encoder cannot embed a new text.
 */
export async function askArm(
  config: ExperimentConfig,
  arm: string,
  question: QuestionInput,
  context: AskContext,
): Promise<AskedContext> {
  return (await import('./run/ask.ts')).askArm(config, arm, question, context);
}
