import { GRADIENT_EVALUATIONS } from '../../../rank/learning/parameter-search.ts';
import type { FitResult, LearnedNumber, SelectedSignal } from '../../measure/fit-result.ts';
import type { ArmResult, ExperimentResult, Fitted, UserFit } from '../../measure/result.ts';
import { DIFFERENCE_COLUMNS, formatCsv } from './csv.ts';
import { computeGainShare, describeUndecidable } from './decision.ts';
import { estimate, formatDecimal, formatSigned } from './format.ts';
import {
  countConversations,
  describeCoverage,
  describeIntervals,
  describeUnresolved,
  listUnresolved,
} from './legend.ts';
import { buildLadderTable, type LadderTable } from './table.ts';

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
    ...DIFFERENCE_COLUMNS.map((name) => `baseline ${name}`),
    'baseline',
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

/** One row a selected signal. */
function renderSelectionCsv({ fit: { model, selection = [], folds, validatedBy } }: Fitted): string {
  const place = ['weight', 'folds', 'of', 'mean order', 'mean weight'];
  const heading = ['model', 'signal', ...place, `${validatedBy} without`, 'meaning'];
  const rows = selection.map(({ signal, summary, weight, meanOrder, meanWeight, without, ...own }) => [
    ...[model, signal, weight ?? undefined, own.folds, folds.length],
    ...[meanOrder ?? undefined, meanWeight ?? undefined, without, summary],
  ]);
  return formatCsv([heading, ...rows]);
}

/** The columns of a table of selected signals, and the cells of one. */
export function listSelectionColumns({ validatedBy }: FitResult): string[] {
  return ['signal', 'weight', 'folds', 'order', 'weight in folds', `without, ${validatedBy}`, 'meaning'];
}

/** The text of each column, with its number if it is one. */
export function listSelectionCells({ folds }: FitResult, selected: SelectedSignal) {
  const { signal, summary, weight, meanWeight, meanOrder, without } = selected;
  const formatNumber = (value: number | null, digits: number, format = formatSigned) =>
    value === null ? { text: '' } : { text: format(value, digits), value };
  return [
    { text: signal },
    formatNumber(weight, 3),
    { text: `${selected.folds} of ${folds.length}`, value: selected.folds },
    formatNumber(meanOrder, 1, formatDecimal),
    formatNumber(meanWeight, 3),
    formatNumber(without, 4),
    { text: summary },
  ];
}

/** A sentence on a table of selected signals; empty without a selection. */
export function describeSelection({ selection = [], validatedBy }: FitResult): string {
  if (selection.length === 0) return '';
  const kept = selection.filter(({ weight }) => weight !== null).length;
  return `Signals: ${kept} in the weight file, in the order of their selection on all conversations. Folds: the outer folds that selected the signal, with the mean of its order and weight in these folds. Without: ${validatedBy} on held-out conversations without the signal minus with it, the other signals of each fold fitted again; a negative value is a loss.`;
}

/** The tables of a fit by the names of their files. */
export function renderFitFiles(result: Fitted): Readonly<Record<string, string>> {
  return {
    ...(result.fit.selection === undefined ? {} : { 'selection.csv': renderSelectionCsv(result) }),
    'weights.csv': renderWeightsCsv(result),
    'curve.csv': renderCurveCsv(result),
    'importance.csv': renderImportanceCsv(result),
    'controls.csv': renderControlsCsv(result),
  };
}

/**
 * Sentences on differences that are corrected together: their intervals, what the conversations can show, and what the
 * samples leave open.
 *
 * @param of the compared items, in the plural
 */
export function reachSentences(
  { statistics, queries, metrics }: ExperimentResult,
  of: string,
  differences: Parameters<typeof listUnresolved>[0],
): string[] {
  const conversations = countConversations(queries);
  return [
    `Brackets: ${describeIntervals(conversations, statistics.level)}.`,
    ...describeCoverage(conversations, statistics.level),
    ...describeUndecidable(statistics, conversations, differences.length, `comparisons of ${of}`),
    ...describeUnresolved(listUnresolved(differences, metrics), statistics),
  ];
}

function formatCounted(numbers: readonly number[]): string {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(least) : `${least} to ${most}`;
}

/** Sentences on the budgets of the searches, and on rows that repeat the baseline; empty without searches. */
export function searchSentences({ searches }: Pick<FitResult, 'searches'>, baseline: string): string[] {
  if (searches.length === 0) return [];
  const budgets = searches.map(({ method, evaluations }) => `${method} ${formatCounted(evaluations)}`).join(', ');
  const budget = `Searches evaluate the metric on a fold's training rows as often as takes the time of its training: ${budgets} evaluations a fold, a gradient counted as ${GRADIENT_EVALUATIONS}.`;
  const stuck = searches
    .filter(({ foldsAtStart }) => foldsAtStart > 0)
    .map(({ method, evaluations, foldsAtStart }) => {
      const what = `${method} found nothing better than ${baseline} in ${foldsAtStart} of ${evaluations.length} folds`;
      return `${what}: its rankings there are those of ${baseline}.`;
    });
  return [budget, ...stuck];
}

/** Metrics of weights on other data; the first row is the heading. */
export function listTransferRows({ name, dataset, fit, metrics }: Fitted): string[][] {
  const formatDatasetName = (data: string) => (data === name ? dataset.name : data); // the name of the training's own data
  const rows = fit.transfer.map(({ model, trainedOn, testedOn, queries, conversations, metrics: values }) => [
    model,
    formatDatasetName(trainedOn),
    formatDatasetName(testedOn),
    String(queries),
    String(conversations),
    ...metrics.map((metric) => {
      const value = values[metric];
      return value === undefined ? '' : estimate(value, formatDecimal, 2);
    }),
  ]);
  return [['model', 'trained on', 'tested on', 'queries', 'conversations', ...metrics], ...rows];
}

/** Sentences on the intervals of the rows, each by its own number of conversations. */
export function describeTransfers({ fit, statistics }: Fitted): string[] {
  const numbers = [...new Set(fit.transfer.map(({ conversations }) => conversations))].sort((a, b) => a - b);
  return numbers.map(
    (conversations) =>
      `Brackets of ${conversations} conversations: ${describeIntervals(conversations, statistics.level)}.`,
  );
}

/** A sentence on the users with own weights, for the place below their table. */
export function describeUsers({ asked, learned }: UserFit): string {
  const users = new Set(learned.map(({ user }) => user)).size;
  return `Weights of users: ${users} of ${asked} users have enough questions for own weights of at least one strategy; for all other questions the rankings are those of strategy.`;
}

/** The arms with weights of users as a table of their own. */
export function buildUsersLadder(result: ExperimentResult, { arms, baseline }: UserFit): LadderTable {
  return buildLadderTable({ ...result, arms, baseline });
}
