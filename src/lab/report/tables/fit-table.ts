import { GRADIENT_EVALUATIONS } from '../../../rank/learning/parameter-search.ts';
import type { FitResult } from '../../measure/fit-result.ts';
import type { ExperimentResult, UserFit } from '../../measure/result.ts';
import { describeUndecidable } from './decision.ts';
import { estimate, formatDecimal } from './format.ts';
import {
  countConversations,
  describeCoverage,
  describeIntervals,
  describeUnresolved,
  listUnresolved,
} from './legend.ts';
import { buildLadderTable, type LadderTable } from './table.ts';

/** A result whose arms choose the numbers of a model. */
export type Fitted = ExperimentResult & { readonly fit: FitResult };

/** True if the arms of a result choose the numbers of a model. */
export function isFitted(result: ExperimentResult): result is Fitted {
  return result.fit !== undefined;
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
