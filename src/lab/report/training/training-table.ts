import { GRADIENT_EVALUATIONS } from '../../../rank/learning/search-budget.ts';
import type { ModelResult, TrainingResult, UserTraining } from '../../training/training-result.ts';
import { describeDecisions } from '../tables/decision.ts';
import { estimate, formatDecimal } from '../tables/format.ts';
import { buildStatisticsLegend, describeIntervals, listUnresolved } from '../tables/legend.ts';
import { escapeMarkdown, formatLadderMarkdown, formatProvenance, formatRowsAsPipeTable } from '../tables/markdown.ts';
import { buildLadderCell, type LadderTable } from '../tables/table.ts';
import { alignLines, formatLadder } from '../tables/text-table.ts';
import { formatControlsMarkdown } from './training-controls.ts';
import { formatImportanceMarkdown } from './training-importance.ts';
import { describeTrainingStatistics } from './training-statistics.ts';

/** What is said of each way to come by a model's numbers. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'hand-tuned': 'where training starts',
  uniform: 'every signal alike',
  'random search': 'the best of random draws, in the time of the training',
  'coordinate ascent': 'one number after the other, in the time of the training',
  learned: 'by gradients',
  strategy: 'the weights of the strategy of each question',
  everyone: 'those learned of all users together',
  user: 'those learned of who asks',
  'another user': 'a null control: those of another user with own weights',
};

/** The methods of a model in the form of a ladder of arms. */
export function buildMethodLadder(
  result: Pick<TrainingResult, 'metrics' | 'config' | 'level'>,
  { methods, baseline, measured }: Pick<ModelResult, 'methods' | 'baseline' | 'measured'>,
): LadderTable {
  const { metrics } = result;
  const statistics = describeTrainingStatistics(result);
  const rows = methods.map((method) => ({
    arm: method.name,
    description: DESCRIPTIONS[method.name] ?? '',
    isBaseline: method.name === baseline,
    control: null,
    survives: [],
    cells: metrics.map((metric) => buildLadderCell(method, metric, method.name !== baseline, statistics)),
    holes: method.holes,
  }));
  const others = methods.filter(({ name }) => name !== baseline);
  const unresolved = listUnresolved(others, metrics);
  const facts = { rows: 'methods', baseline, compared: true, isTested: true, unresolved, statistics };
  return {
    metrics,
    baseline,
    compared: true,
    rows,
    absent: [],
    decision: describeDecisions({
      rows: 'methods',
      baseline,
      metrics,
      arms: others,
      statistics,
      conversations: measured.conversations,
    }),
    legend: buildStatisticsLegend({ ...facts, ...measured }),
    notes: [],
  };
}

/** What the figures are of, in a sentence. */
export function describeFolds({ config, conversations }: TrainingResult): string {
  const { outer, inner } = config.crossValidation;
  const folds =
    outer === 'leave-one-out'
      ? `${conversations} folds, a conversation each`
      : typeof outer === 'number'
        ? `${outer} folds of conversations`
        : `${outer.length} listed folds of conversations`;
  return `Every ranking is by numbers that have not seen its conversation: ${folds}; hyper-parameters by ${inner} folds within the others.`;
}

function formatCounted(numbers: readonly number[]): string {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(least) : `${least} to ${most}`;
}

/** What the searches were given, and where a row repeats the baseline; nothing without searches. */
export function searchSentences({ searches, baseline }: Pick<ModelResult, 'searches' | 'baseline'>): string[] {
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

/** How the signals' pool limits every method. */
export function describePool({ poolRecall, signals, config }: TrainingResult): string {
  const found = config.candidates.map(({ index }) => index).join(' + ');
  return `The candidates (${found}) hold ${formatDecimal(poolRecall, 3)} of the relevant turns; no order of them finds more. ${signals.length} signals.`;
}

/** Metrics of weights on other data; the first row is the heading. */
export function listTransferRows({ name, dataset, transfer, metrics }: TrainingResult): string[][] {
  const formatDatasetName = (data: string) => (data === name ? dataset.name : data); // the name of the training's own data
  const rows = transfer.map(({ model, trainedOn, testedOn, queries, conversations, metrics: values }) => [
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

/** How the intervals of the rows are made, each by its own number of conversations. */
export function describeTransfers({ transfer, level }: TrainingResult): string[] {
  const numbers = [...new Set(transfer.map(({ conversations }) => conversations))].sort((a, b) => a - b);
  return numbers.map(
    (conversations) => `Brackets of ${conversations} conversations: ${describeIntervals(conversations, level)}.`,
  );
}

/** What the methods for weights of users are, after the table. */
export function describeUsers({ asked, learned }: UserTraining): string {
  const users = new Set(learned.map(({ user }) => user)).size;
  return `Weights of users: ${users} of ${asked} users have enough questions for own weights of at least one strategy; for all other questions the rankings are those of strategy.`;
}

const formatModelName = ({ name }: ModelResult) => `Model ${name}`;

/** The methods of every model, for a terminal. */
export function renderTrainingText(result: TrainingResult, width = 120): string {
  const ladders = result.models.map(
    (model) =>
      `${formatModelName(model)}\n\n${formatLadder(buildMethodLadder(result, model), width, 'method')}${searchSentences(
        model,
      )
        .map((line) => `\n${line}`)
        .join('')}`,
  );
  const transfer =
    result.transfer.length === 0
      ? []
      : [`${[...alignLines(listTransferRows(result)), ...describeTransfers(result)].join('\n')}\n`];
  const users =
    result.users === undefined
      ? []
      : [
          `Users\n\n${formatLadder(buildMethodLadder(result, result.users), width, 'method')}\n${describeUsers(result.users)}\n`,
        ];
  return [...ladders, ...users, ...transfer, `${describeFolds(result)}\n${describePool(result)}\n`].join('\n');
}

/** A training as Markdown: for each model its table of methods and the importance of its signals, then the transfer to other data and the provenance. */
export function renderTrainingMarkdown(result: TrainingResult): string {
  const models = result.models.flatMap((model) => {
    const table = buildMethodLadder(result, model);
    return [
      `${formatModelName(model)}:`,
      ...formatLadderMarkdown(table, 'method'),
      [...table.legend, ...searchSentences(model)].map(escapeMarkdown).join('\n'),
      ...formatControlsMarkdown(result, model),
      ...formatImportanceMarkdown(result, model),
    ];
  });
  const transfer =
    result.transfer.length === 0
      ? []
      : [
          'Weights on other data:',
          formatRowsAsPipeTable(listTransferRows(result).map((row) => row.map(escapeMarkdown))),
          describeTransfers(result).map(escapeMarkdown).join('\n'),
        ];
  const sentences = [describeFolds(result), describePool(result)].map(escapeMarkdown).join('\n');
  const users =
    result.users === undefined
      ? []
      : [
          'Weights of users:',
          ...formatLadderMarkdown(buildMethodLadder(result, result.users), 'method'),
          buildMethodLadder(result, result.users).legend.map(escapeMarkdown).join('\n'),
          escapeMarkdown(describeUsers(result.users)),
        ];
  return `${[...models, ...users, ...transfer, sentences, formatProvenance('Training', result)].join('\n\n')}\n`;
}
