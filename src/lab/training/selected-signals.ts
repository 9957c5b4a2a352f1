import type { Fit } from '../../rank/learning/cross-validation.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import { createTableMetric } from '../../rank/learning/fit-options.ts';
import type { HyperParameters } from '../../rank/learning/fitting.ts';
import { refitWithoutEach } from '../../rank/learning/greedy-selection.ts';
import { createLinearModel, type LinearModel, selectStandardisation } from '../../rank/learning/linear-model.ts';
import { type ScoringModel, TableScorer } from '../../rank/learning/model.ts';
import { chooseParameterValues, nameParameterValues } from '../../rank/learning/parameters.ts';
import { bankSignals } from '../../rank/signals/bank/options.ts';
import type { SelectedSignal } from '../measure/fit-result.ts';
import type { TrainingConfig } from './training-config.ts';

/** A model with its values, and signals in the order of their choice. */
type Selected = Pick<Fit, 'model' | 'values' | 'path'>;

/** The selection of an outer fold. */
interface FoldSelection {
  readonly values: Float64Array;
  readonly path: readonly string[];
  /** The metric of the fit on held out rows without each signal of the path minus with it. */
  readonly without: readonly number[];
  /** The number of rows held out. */
  readonly heldOut: number;
}

/** The values of a linear model by signal. */
function indexWeights(model: ScoringModel, values: Float64Array): Record<string, number> {
  return Object.assign({}, ...Object.values(nameParameterValues(model, values)));
}

/**
 * The metric of the fit on held out rows without each selected signal minus with it, the others fitted again on the
 * training rows.
 *
 * @param chosen the point of the fit.
 * @returns in the order of the path
 */
export async function measureWithoutEach(
  config: TrainingConfig,
  { model, values, path }: Selected,
  chosen: HyperParameters,
  training: FeatureTable,
  held: FeatureTable,
): Promise<number[]> {
  if (config.fit.select === null) return [];
  const options = { ...chosen, seed: config.seed };
  const refits = await refitWithoutEach(model as LinearModel, training, { values, path }, options);
  const metric = createTableMetric(held, config.fit.metric);
  const scorer = new TableScorer(model, held);
  try {
    const measured: number[] = [];
    for (const own of [values, ...refits]) measured.push(metric.mean(await scorer.scoreWith(own)));
    const [whole = 0, ...without] = measured;
    return without.map((value) => value - whole);
  } finally {
    scorer.dispose();
  }
}

/**
 * A linear model of the signals of a path, and of those where the fit starts, so that its hand-tuned values are those
 * of the whole model; with a way to its values from those of the whole model.
 */
export function keepSelected(whole: LinearModel, path: readonly string[]) {
  const { nonNegative, initial } = whole.config as { nonNegative: readonly string[]; initial: Record<string, number> };
  const keeps = (name: string) => path.includes(name) || Object.hasOwn(initial, name);
  const signals = whole.signals.filter(keeps);
  const options = { signals, nonNegative: nonNegative.filter(keeps), initial, normalise: whole.normalise };
  const model = createLinearModel(options, selectStandardisation(whole.standardisation, whole.signals, signals));
  const keep = (values: Float64Array) => {
    const weights = indexWeights(whole, values);
    return chooseParameterValues(model, ({ labels }) => labels.map((label) => weights[label] as number));
  };
  return { model, keep };
}

const average = (numbers: readonly number[]) => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;

/** Every signal that a fold or the final fit chose: those of the final fit in their order, then by number of folds. */
export function summariseSelection(
  { signals: bank }: Pick<TrainingConfig, 'signals'>,
  { model, values, path }: Selected,
  outcomes: readonly FoldSelection[],
): SelectedSignal[] {
  const summaries = new Map(bankSignals(bank).map(({ name, summary }) => [name, summary]));
  const weights = outcomes.map((outcome) => indexWeights(model, outcome.values));
  const final = indexWeights(model, values);
  const rows = outcomes.reduce((sum, { heldOut }) => sum + heldOut, 0);
  const names = [...new Set([...path, ...outcomes.flatMap((outcome) => outcome.path)])];
  const selected = names.map((signal): SelectedSignal => {
    const folds = outcomes.flatMap(({ path: own }, f) => (own.includes(signal) ? [f] : []));
    const place = (own: readonly string[]) => own.indexOf(signal);
    const lost = outcomes.map(({ path: own, without, heldOut }) => (without[place(own)] ?? 0) * heldOut);
    return {
      ...{ signal, summary: summaries.get(signal) ?? '', folds: folds.length },
      meanWeight: folds.length === 0 ? null : average(folds.map((f) => weights[f]?.[signal] as number)),
      meanOrder: folds.length === 0 ? null : average(folds.map((f) => 1 + place(outcomes[f]?.path ?? []))),
      weight: path.includes(signal) ? (final[signal] as number) : null,
      without: lost.reduce((sum, value) => sum + value, 0) / rows,
    };
  });
  const count = path.length;
  return [...selected.slice(0, count), ...selected.slice(count).sort((a, b) => b.folds - a.folds)];
}
