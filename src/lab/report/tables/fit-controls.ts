import type { NullControl } from '../../measure/fit-result.ts';
import type { ExperimentResult } from '../../measure/result.ts';
import type { Section } from '../page/figure-sections.ts';
import { html, type Markup } from '../page/markup.ts';
import { type Fitted, reachSentences } from './fit-table.ts';
import { computeGainShare, formatGainShare } from './gain-share.ts';
import { escapeMarkdown, formatDifference, formatRowsAsPipeTable } from './pipe-table.ts';
import { type PlainCell, renderPlainTable } from './plain-table.ts';
import { buildLadderCell, type LadderCell } from './table.ts';

type Statistics = ExperimentResult['statistics'];

function buildControlCell({ part, metrics, comparisons }: NullControl, metric: string, statistics: Statistics) {
  return buildLadderCell({ name: part, metrics, comparisons }, metric, true, statistics);
}

function formatControlDifference({ comparison, mark }: LadderCell): string {
  return comparison === null ? '' : formatDifference(comparison, mark);
}

function describeControlReach(result: Fitted): string[] {
  const controls = result.fit.controls.map(({ part, comparisons }) => ({ name: part, comparisons }));
  return reachSentences(result, 'controls', controls);
}

/** The effect of the exchange on the hand-tuned numbers' metric; empty if they rank as before. */
function formatBaselineCell(
  { part, metrics, baseline }: NullControl,
  metric: string,
  statistics: Statistics,
): PlainCell {
  if (baseline.isUnchanged) return { text: 'unchanged', value: 0 };
  const cell = buildLadderCell({ name: part, metrics, comparisons: baseline.comparisons }, metric, true, statistics);
  return { text: formatControlDifference(cell), value: baseline.comparisons[metric]?.difference.mean as number };
}

/**
 * A metric under a control, its difference from that of the learned numbers, and the difference of the baseline with
 * the share of the gain if it is defined.
 */
function buildControlCells({ arms, statistics }: Fitted, control: NullControl, metric: string): PlainCell[] {
  const cell = buildControlCell(control, metric, statistics);
  const difference = control.comparisons[metric]?.difference.mean as number;
  const share = computeGainShare(arms, control, metric);
  const baseline = formatBaselineCell(control, metric, statistics);
  return [
    { text: [cell.value, cell.interval].filter(Boolean).join(' '), value: cell.mean },
    { text: formatControlDifference(cell), value: difference },
    share === null ? baseline : { ...baseline, text: `${baseline.text}; gone: ${formatGainShare(share)} of the gain` },
  ];
}

function renderControlsTable(result: Fitted): Markup {
  const { fit, metrics, baseline } = result;
  return renderPlainTable({
    label: `null controls of ${fit.model}`,
    headings: [
      { name: 'exchanged', numeric: false },
      { name: 'signals', numeric: true },
      ...metrics.flatMap((metric) => [
        { name: metric, numeric: true, first: 'ascending' as const },
        { name: `${metric}: control − learned`, numeric: true, first: 'ascending' as const },
        { name: `${metric}: control − ${baseline}`, numeric: true, first: 'ascending' as const },
      ]),
    ],
    rows: fit.controls.map((control) => ({
      cells: [
        { text: control.part },
        { text: String(control.signals.length), value: control.signals.length },
        ...metrics.flatMap((metric) => buildControlCells(result, control, metric)),
      ],
    })),
  });
}

/** The section of null controls: each metric and the rest of its gain with some signals at random; may be empty. */
export function renderFitControls(result: Fitted): Section[] {
  const { fit, baseline } = result;
  if (fit.controls.length === 0) return [];
  const content = html`
<p class="legend">In each row, the candidates of every query exchange the values of a part of the signals at random, so that they carry no information about their candidate. The model is trained again on the same folds with the hyper-parameters chosen for each. The second difference is the effect of the exchange on ${baseline} itself. The share of the gain is the part of the gain over ${baseline} that is lost, (learned − control) / (learned − ${baseline}). It is given only if the exchange does not change the rankings of ${baseline} and there is a gain: otherwise the loss is not part of the gain alone. If a control loses nothing, the gain is not due to those signals, or other signals replace them. Marked where the p, corrected over the controls, decides. ${describeControlReach(result).join(' ')}</p>
${renderControlsTable(result)}`;
  return [{ id: 'exchanged', name: 'What null controls leave', link: 'Null controls', content }];
}

/** The controls of a model as a sentence and a pipe table; nothing where there are none. */
export function formatControlsMarkdown(result: Fitted): string[] {
  const { metrics, fit, arms, baseline, statistics } = result;
  if (fit.controls.length === 0) return [];
  const [first] = metrics as readonly [string, ...string[]];
  const sentence = `Null controls minus learned, marked where the p, corrected over the controls, decides: the candidates of each query exchange the values of these signals at random, and the model is trained again on the same folds by what each had chosen. Then what the exchange changes of ${baseline} in ${first}, and, only where that is unchanged, the share of the gain over ${baseline} in ${first} that is gone.`;
  const rows = fit.controls.map((control) => [
    escapeMarkdown(control.part),
    String(control.signals.length),
    ...metrics.map((metric) => formatControlDifference(buildControlCell(control, metric, statistics))),
    formatBaselineCell(control, first, statistics).text,
    formatGainShare(computeGainShare(arms, control, first)),
  ]);
  const heading = [
    'exchanged',
    'signals',
    ...metrics.map(escapeMarkdown),
    `${baseline}, ${escapeMarkdown(first)}`,
    'of the gain',
  ];
  return [
    escapeMarkdown([sentence, ...describeControlReach(result)].join(' ')),
    formatRowsAsPipeTable([heading, ...rows]),
  ];
}
