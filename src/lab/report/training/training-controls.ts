import type { ModelResult, NullControl, TrainingResult } from '../../training/training-result.ts';
import type { Section } from '../page/figure-sections.ts';
import { html, type Markup } from '../page/markup.ts';
import { formatDifference } from '../tables/difference-text.ts';
import { computeGainShare, formatGainShare } from '../tables/gain-share.ts';
import { escapeMarkdown, formatRowsAsPipeTable } from '../tables/markdown.ts';
import { renderPerModel } from '../tables/model-parts.ts';
import { type PlainCell, renderPlainTable } from '../tables/plain-table.ts';
import { buildLadderCell, type LadderCell } from '../tables/table.ts';
import { reachSentences } from './training-statistics.ts';

type Facts = Pick<TrainingResult, 'config' | 'metrics' | 'level'>;

function buildControlCell({ part, metrics, comparisons }: NullControl, metric: string, facts: Facts): LadderCell {
  return buildLadderCell({ name: part, metrics, comparisons }, metric, true, facts);
}

function formatControlDifference({ comparison, mark }: LadderCell): string {
  return comparison === null ? '' : formatDifference(comparison, mark);
}

function describeControlReach(facts: Facts, model: ModelResult): string[] {
  const controls = model.controls.map(({ part, comparisons }) => ({ name: part, comparisons }));
  return reachSentences(facts, model, 'controls', controls);
}

/** The effect of the exchange on the hand-tuned numbers' metric; empty if they rank as before. */
function formatBaselineCell({ part, metrics, baseline }: NullControl, metric: string, facts: Facts): PlainCell {
  if (baseline.isUnchanged) return { text: 'unchanged', value: 0 };
  const cell = buildLadderCell({ name: part, metrics, comparisons: baseline.comparisons }, metric, true, facts);
  return { text: formatControlDifference(cell), value: baseline.comparisons[metric]?.difference.mean as number };
}

/** A metric under a control, its difference from what was learned, and that of the baseline with the share of the gain if it is defined. */
function buildControlCells(model: ModelResult, control: NullControl, metric: string, facts: Facts): PlainCell[] {
  const cell = buildControlCell(control, metric, facts);
  const difference = control.comparisons[metric]?.difference.mean as number;
  const share = computeGainShare(model, control, metric);
  const baseline = formatBaselineCell(control, metric, facts);
  return [
    { text: [cell.value, cell.interval].filter(Boolean).join(' '), value: cell.mean },
    { text: formatControlDifference(cell), value: difference },
    share === null ? baseline : { ...baseline, text: `${baseline.text}; gone: ${formatGainShare(share)} of the gain` },
  ];
}

function renderControlsTable(model: ModelResult, facts: Facts): Markup {
  return renderPlainTable({
    label: `null controls of ${model.name}`,
    headings: [
      { name: 'exchanged', numeric: false },
      { name: 'signals', numeric: true },
      ...facts.metrics.flatMap((metric) => [
        { name: metric, numeric: true, first: 'ascending' as const },
        { name: `${metric}: control − learned`, numeric: true, first: 'ascending' as const },
        { name: `${metric}: control − ${model.baseline}`, numeric: true, first: 'ascending' as const },
      ]),
    ],
    rows: model.controls.map((control) => ({
      cells: [
        { text: control.part },
        { text: String(control.signals.length), value: control.signals.length },
        ...facts.metrics.flatMap((metric) => buildControlCells(model, control, metric, facts)),
      ],
    })),
  });
}

/** What is left of each metric, and of what training gains, where a part of the signals is random; nothing without controls. */
export function renderControlsSection(result: TrainingResult): Section[] {
  if (result.models.every(({ controls }) => controls.length === 0)) return [];
  const content = renderPerModel(result, (model) =>
    model.controls.length === 0
      ? ''
      : html`
<p class="legend">In each row, the candidates of every query exchange the values of a part of the signals at random, so that they carry no information about their candidate. The model is trained again on the same folds with the hyper-parameters chosen for each. The second difference is the effect of the exchange on ${model.baseline} itself. The share of the gain is the part of the gain over ${model.baseline} that is lost, (learned − control) / (learned − ${model.baseline}). It is given only if the exchange does not change the rankings of ${model.baseline} and there is a gain: otherwise the loss is not part of the gain alone. If a control loses nothing, the gain is not due to those signals, or other signals replace them. Marked where the p, corrected over the controls, decides. ${describeControlReach(result, model).join(' ')}</p>
${renderControlsTable(model, result)}`,
  );
  return [{ id: 'controls', name: 'What null controls leave', link: 'Null controls', content }];
}

/** The controls of a model as a sentence and a pipe table; nothing where there are none. */
export function formatControlsMarkdown(result: Facts, model: ModelResult): string[] {
  const { metrics } = result;
  if (model.controls.length === 0) return [];
  const [first] = metrics as readonly [string, ...string[]];
  const sentence = `Null controls minus learned, marked where the p, corrected over the controls, decides: the candidates of each query exchange the values of these signals at random, and the model is trained again on the same folds by what each had chosen. Then what the exchange changes of ${model.baseline} in ${first}, and, only where that is unchanged, the share of the gain over ${model.baseline} in ${first} that is gone.`;
  const rows = model.controls.map((control) => [
    escapeMarkdown(control.part),
    String(control.signals.length),
    ...metrics.map((metric) => formatControlDifference(buildControlCell(control, metric, result))),
    formatBaselineCell(control, first, result).text,
    formatGainShare(computeGainShare(model, control, first)),
  ]);
  const heading = [
    'exchanged',
    'signals',
    ...metrics.map(escapeMarkdown),
    `${model.baseline}, ${escapeMarkdown(first)}`,
    'of the gain',
  ];
  return [
    escapeMarkdown([sentence, ...describeControlReach(result, model)].join(' ')),
    formatRowsAsPipeTable([heading, ...rows]),
  ];
}
