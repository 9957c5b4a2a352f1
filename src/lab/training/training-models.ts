import { ValidationError } from '../../core/errors/errors.ts';
import { findNearestWord } from '../../core/validation/validation.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import type { ScoringModel } from '../../rank/learning/model.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { listTrajectorySignals } from '../../rank/learning/trajectory-inputs.ts';
import { createTrajectoryModel } from '../../rank/learning/trajectory-model.ts';
import { MEMORY_SIGNALS } from '../../rank/signals/memory-signals.ts';
import { STRATEGY_SIGNALS } from '../../rank/signals/strategy.ts';
import type { TrainingConfig } from './training-config.ts';

type ModelOptions = TrainingConfig['model'];

/** The default start of a mix: words and embeddings alike. */
const HAND_TUNED: Readonly<Record<string, number>> = { bm25: 1, cosine: 1 };

/** The signals of a mix. @throws ValidationError for one that the table lacks. */
function selectMixSignals(
  all: readonly string[],
  { signals }: Extract<ModelOptions, { name: 'linear' }>,
): readonly string[] {
  const inputs = new Set(listTrajectorySignals(7));
  if (signals === null) return all.filter((signal) => signal === 'cosine' || !inputs.has(signal));
  for (const signal of signals) {
    if (all.includes(signal)) continue;
    const nearest = findNearestWord(signal, all);
    const hint = nearest ?? 'a signal of docs/signals.md';
    throw new ValidationError(`bank has no signal: ${signal}; use ${hint}`, { signal });
  }
  return signals;
}

/**
 * The signals that a model reads.
 *
 * @param all those of the table.
 * @throws ValidationError for one that the table lacks, and for a mix whose start would be zero: the baseline of a training ranks by the start.
 */
export function listModelSignals(options: ModelOptions, all: readonly string[]): readonly string[] {
  if (options.name === 'trajectory') return listTrajectorySignals(options.dimensions);
  const signals = selectMixSignals(all, options);
  const initial = options.initial ?? HAND_TUNED;
  if (signals.every((signal) => (initial[signal] ?? 0) === 0))
    throw new ValidationError(
      `model ${options.name} starts from ${JSON.stringify(initial)}, which is zero for all of its ${signals.length} signals; set model.initial to the weight of at least one of them`,
      { initial: { ...initial } },
    );
  return signals;
}

/** The columns of a table with the five signals of memories, in their order. */
export const USER_SIGNALS: readonly string[] = MEMORY_SIGNALS.map((name) => STRATEGY_SIGNALS[name].name);

/** The signals that some part of a training reads, in the order of `all`. */
export function listReadSignals({ model, users }: TrainingConfig, all: readonly string[]): readonly string[] {
  const read = new Set(listModelSignals(model, all));
  const own = new Set(users === undefined ? [] : USER_SIGNALS);
  return all.filter((name) => read.has(name) || own.has(name));
}

/** Makes a model of the rows that it is trained on. */
export function createModelMaker(options: ModelOptions): (rows: FeatureTable) => ScoringModel {
  if (options.name === 'trajectory') {
    const { dimensions } = options;
    return () => createTrajectoryModel({ dimensions, self: 'include' });
  }
  return (rows) => {
    const signals = selectMixSignals(rows.signals, options);
    const written = options.initial ?? HAND_TUNED;
    const initial = Object.fromEntries(Object.entries(written).filter(([signal]) => signals.includes(signal)));
    return createLinearModel({ signals, nonNegative: options.nonNegative, initial }, fitStandardisation(rows, signals));
  };
}
