import type { ExperimentResult } from '../experiment/result.ts';
import type { ModelResult, TrainingResult } from '../experiment/training/training-result.ts';
import { decimal } from './format.ts';
import { escapeMarkdown, ladderMarkdown, pipeTable, provenance } from './markdown.ts';
import { type LadderTable, ladderCell, statisticsLegend } from './table.ts';
import { alignedLines, ladderText } from './text-table.ts';
import { controlsMarkdown } from './training-controls.ts';
import { importanceMarkdown } from './training-importance.ts';

/** What is said of each way to come by a model's numbers. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'hand-tuned': 'where training starts',
  uniform: 'every signal alike',
  'random search': 'the best of as many random draws as training had looks at its metric',
  'coordinate ascent': 'one number after the other, with the same number of looks',
  learned: 'by gradients',
};

/** The tests of a training are those of a run with nothing said about them. */
export function statisticsOf({
  config,
  level,
}: Pick<TrainingResult, 'config' | 'level'>): ExperimentResult['statistics'] {
  return { test: 'permutation', correction: 'holm', samples: config.evaluation.samples, level };
}

/** The methods of a model in the form of a ladder of arms. */
export function methodLadder(
  result: Pick<TrainingResult, 'metrics' | 'config' | 'level'>,
  { methods, baseline, measured }: Pick<ModelResult, 'methods' | 'baseline' | 'measured'>,
): LadderTable {
  const { metrics } = result;
  const statistics = statisticsOf(result);
  const rows = methods.map((method) => ({
    arm: method.name,
    description: DESCRIPTIONS[method.name] ?? '',
    isBaseline: method.name === baseline,
    control: null,
    survives: [],
    cells: metrics.map((metric) => ladderCell(method, metric, method.name !== baseline, statistics)),
    holes: method.holes,
  }));
  const facts = { rows: 'methods', baseline, compared: true, isTested: true, hasControls: false, statistics };
  return {
    metrics,
    baseline,
    compared: true,
    rows,
    absent: [],
    legend: statisticsLegend({ ...facts, ...measured }),
    notes: [],
  };
}

/** What the figures are of, in a sentence. */
export function foldSentence({ config, conversations }: TrainingResult): string {
  const { outer, inner } = config.crossValidation;
  const folds =
    outer === 'leave-one-out' ? `${conversations} folds, a conversation each` : `${outer} folds of conversations`;
  return `Every ranking is by numbers that have not seen its conversation: ${folds}; hyper-parameters by ${inner} folds within the others.`;
}

/** How the signals' pool limits every method. */
export function poolSentence({ poolRecall, signals, config }: TrainingResult): string {
  const found = config.candidates.map(({ index }) => index).join(' + ');
  return `The candidates (${found}) hold ${decimal(poolRecall, 3)} of the relevant turns; no order of them finds more. ${signals.length} signals.`;
}

/** Metrics of weights on other data; the first row is the heading. */
export function transferRows({ name, dataset, transfer, metrics }: TrainingResult): string[][] {
  const shown = (data: string) => (data === name ? dataset.name : data); // the training's own data go by its name
  const rows = transfer.map(({ model, trainedOn, testedOn, queries, metrics: values }) => [
    model,
    shown(trainedOn),
    shown(testedOn),
    String(queries),
    ...metrics.map((metric) => {
      const value = values[metric];
      return value === undefined
        ? ''
        : `${decimal(value.mean, 3)} [${decimal(value.low, 2)}, ${decimal(value.high, 2)}]`;
    }),
  ]);
  return [['model', 'trained on', 'tested on', 'queries', ...metrics], ...rows];
}

const nameOf = ({ name }: ModelResult) => `Model ${name}`;

/** The methods of every model, for a terminal. */
export function renderTrainingText(result: TrainingResult, width = 120): string {
  const ladders = result.models.map(
    (model) => `${nameOf(model)}\n\n${ladderText(methodLadder(result, model), width, 'method')}`,
  );
  const transfer = result.transfer.length === 0 ? [] : [`${alignedLines(transferRows(result)).join('\n')}\n`];
  return [...ladders, ...transfer, `${foldSentence(result)}\n${poolSentence(result)}\n`].join('\n');
}

export function renderTrainingMarkdown(result: TrainingResult): string {
  const models = result.models.flatMap((model) => {
    const table = methodLadder(result, model);
    return [
      `${nameOf(model)}:`,
      ...ladderMarkdown(table, 'method'),
      table.legend.map(escapeMarkdown).join('\n'),
      ...controlsMarkdown(result, model),
      ...importanceMarkdown(result, model),
    ];
  });
  const transfer =
    result.transfer.length === 0
      ? []
      : ['Weights on other data:', pipeTable(transferRows(result).map((row) => row.map(escapeMarkdown)))];
  const sentences = [foldSentence(result), poolSentence(result)].map(escapeMarkdown).join('\n');
  return `${[...models, ...transfer, sentences, provenance('Training', result)].join('\n\n')}\n`;
}
