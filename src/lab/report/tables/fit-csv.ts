import type { LearnedNumber } from '../../measure/fit-result.ts';
import type { ArmResult } from '../../measure/result.ts';
import { DIFFERENCE_COLUMNS, formatCsv } from './csv.ts';
import type { Fitted } from './fit-table.ts';
import { computeGainShare } from './gain-share.ts';

type Compared = NonNullable<ArmResult['comparisons']>[string];

function flattenDifference(comparison: Compared | undefined) {
  const { difference, p, correctedP, samples, unresolved, verdict } = comparison ?? {};
  const isOpen = unresolved === undefined ? undefined : String(unresolved);
  return [difference?.mean, difference?.low, difference?.high, p, correctedP, samples, isOpen, verdict];
}

/** The name of a number in a list of several parameters. */
export function formatNumberName(
  { parameter, label }: Pick<LearnedNumber, 'parameter' | 'label'>,
  parameters: number,
): string {
  return parameters === 1 || parameter === label ? label : `${parameter}: ${label}`;
}

/** One row a learned number. */
export function renderWeightsCsv({ fit: { model, numbers } }: Fitted): string {
  const heading = ['model', 'parameter', 'number', 'hand-tuned', 'learned', 'low', 'high'];
  const rows = numbers.map(({ parameter, label, handTuned, value, interval }) => [
    model,
    parameter,
    label,
    handTuned,
    value,
    interval?.low,
    interval?.high,
  ]);
  return formatCsv([heading, ...rows]);
}

/** One row an epoch of each outer fold, and of the training on all rows (`all`). */
export function renderCurveCsv({ fit }: Fitted): string {
  const rows = [...fit.folds.map((fold, f) => ({ name: String(f + 1), fold })), { name: 'all', fold: fit }].flatMap(
    ({ name, fold: { curve, validation } }) =>
      Array.from({ length: Math.max(curve.length, validation.length) }, (_, e) => [
        fit.model,
        name,
        e,
        curve[e]?.loss,
        validation[e],
      ]),
  );
  return formatCsv([['model', 'fold', 'epoch', 'loss', `validation ${fit.validatedBy}`], ...rows]);
}

/** One row a family of signals and metric. */
export function renderImportanceCsv({ fit: { model, importance }, metrics }: Fitted): string {
  const heading = ['model', 'family', 'signals', 'metric', ...DIFFERENCE_COLUMNS];
  const rows = importance.flatMap(({ family, signals, comparisons }) =>
    metrics.map((metric) => [model, family, signals.join(' '), metric, ...flattenDifference(comparisons[metric])]),
  );
  return formatCsv([heading, ...rows]);
}

/** Columns of the hand-tuned numbers under a control. */
const BASELINE = [...DIFFERENCE_COLUMNS.map((name) => `baseline ${name}`), 'baseline'];

/** One row a null control and metric. */
export function renderControlsCsv({ fit: { model, controls }, arms, metrics }: Fitted): string {
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
  const rows = controls.flatMap((control) =>
    metrics.map((metric) => {
      const value = control.metrics[metric];
      const figures = [value?.mean, value?.low, value?.high, ...flattenDifference(control.comparisons[metric])];
      return [
        model,
        control.part,
        control.signals.join(' '),
        metric,
        ...figures,
        ...flattenDifference(control.baseline.comparisons[metric]),
        control.baseline.isUnchanged ? 'unchanged' : 'changed',
        computeGainShare(arms, control, metric),
      ];
    }),
  );
  return formatCsv([heading, ...rows]);
}

/** The tables of a fit by the names of their files. */
export function renderFitFiles(result: Fitted): Readonly<Record<string, string>> {
  return {
    'weights.csv': renderWeightsCsv(result),
    'curve.csv': renderCurveCsv(result),
    'importance.csv': renderImportanceCsv(result),
    'controls.csv': renderControlsCsv(result),
  };
}
