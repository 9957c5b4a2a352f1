import { chooseIntervalMethod } from '../../../eval/intervals/mean-intervals.ts';
import type { LearnedNumber, TrainingResult } from '../../training/training-result.ts';
import { DIFFERENCE_COLUMNS, formatCsv } from '../tables/csv.ts';
import { computeGainShare } from '../tables/gain-share.ts';

/** One row a model, method and metric with every figure. */
export function renderTrainingCsv({ models, users, metrics }: TrainingResult): string {
  const heading = [
    'model',
    'method',
    'metric',
    'mean',
    'low',
    'high',
    ...DIFFERENCE_COLUMNS,
    'unjudged',
    'conversations',
    'intervals',
  ];
  const rows = [...models, ...(users === undefined ? [] : [{ name: 'users', ...users }])].flatMap(
    ({ name: model, methods, measured: { conversations } }) =>
      methods.flatMap(({ name, metrics: values, comparisons, holes }) =>
        metrics.map((metric) => {
          const value = values[metric];
          const comparison = comparisons?.[metric];
          const figures = [value?.mean, value?.low, value?.high, ...flattenDifference(comparison), holes];
          return [model, name, metric, ...figures, conversations, chooseIntervalMethod(conversations)];
        }),
      ),
  );
  return formatCsv([heading, ...rows]);
}

type Compared = NonNullable<TrainingResult['models'][number]['methods'][number]['comparisons']>[string];

function flattenDifference(comparison: Compared | undefined) {
  const { difference, p, correctedP, samples, unresolved, verdict } = comparison ?? {};
  const isOpen = unresolved === undefined ? undefined : String(unresolved);
  return [difference?.mean, difference?.low, difference?.high, p, correctedP, samples, isOpen, verdict];
}

/** What a number is called where numbers of several parameters stand together. */
export function formatNumberName(
  { parameter, label }: Pick<LearnedNumber, 'parameter' | 'label'>,
  parameters: number,
): string {
  return parameters === 1 || parameter === label ? label : `${parameter}: ${label}`;
}

/** One row a learned number. */
export function renderWeightsCsv({ models }: TrainingResult): string {
  const heading = ['model', 'parameter', 'number', 'hand-tuned', 'learned', 'low', 'high'];
  const rows = models.flatMap(({ name, numbers }) =>
    numbers.map(({ parameter, label, handTuned, value, interval }) => [
      name,
      parameter,
      label,
      handTuned,
      value,
      interval?.low,
      interval?.high,
    ]),
  );
  return formatCsv([heading, ...rows]);
}

/** One row an epoch of each outer fold, and of the training on all rows (`all`). */
export function renderCurveCsv({ models, config }: TrainingResult): string {
  const rows = models.flatMap((model) =>
    [...model.folds.map((fold, f) => ({ name: String(f + 1), fold })), { name: 'all', fold: model }].flatMap(
      ({ name, fold: { curve, validation } }) =>
        Array.from({ length: Math.max(curve.length, validation.length) }, (_, e) => [
          model.name,
          name,
          e,
          curve[e]?.loss,
          validation[e],
        ]),
    ),
  );
  return formatCsv([['model', 'fold', 'epoch', 'loss', `validation ${config.fitting.metric}`], ...rows]);
}

/** One row a family of signals and metric. */
export function renderImportanceCsv({ models, metrics }: TrainingResult): string {
  const heading = ['model', 'family', 'signals', 'metric', ...DIFFERENCE_COLUMNS];
  const rows = models.flatMap(({ name, importance }) =>
    importance.flatMap(({ family, signals, comparisons }) =>
      metrics.map((metric) => [name, family, signals.join(' '), metric, ...flattenDifference(comparisons[metric])]),
    ),
  );
  return formatCsv([heading, ...rows]);
}

/** Of the hand-tuned numbers under a control. */
const BASELINE = [...DIFFERENCE_COLUMNS.map((name) => `baseline ${name}`), 'baseline'];

/** One row a null control and metric. */
export function renderControlsCsv({ models, metrics }: TrainingResult): string {
  const heading = [
    'model',
    'part',
    'signals',
    'metric',
    'mean',
    'low',
    'high',
    ...DIFFERENCE_COLUMNS,
    ...BASELINE,
    'share of gain',
  ];
  const rows = models.flatMap((model) =>
    model.controls.flatMap((control) =>
      metrics.map((metric) => {
        const value = control.metrics[metric];
        const figures = [value?.mean, value?.low, value?.high, ...flattenDifference(control.comparisons[metric])];
        return [
          model.name,
          control.part,
          control.signals.join(' '),
          metric,
          ...figures,
          ...flattenDifference(control.baseline.comparisons[metric]),
          control.baseline.isUnchanged ? 'unchanged' : 'changed',
          computeGainShare(model, control, metric),
        ];
      }),
    ),
  );
  return formatCsv([heading, ...rows]);
}
