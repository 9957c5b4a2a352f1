import { html, type Markup } from '../../../core/text/format.ts';
import { MEMORY_SIGNALS } from '../../../rank/signals/memory-signals.ts';
import type { FitResult, LearnedNumber, NullControl } from '../../measure/fit-result.ts';
import type { ExperimentResult, Fitted } from '../../measure/result.ts';
import { computeGainShare, formatGainShare } from '../tables/decision.ts';
import {
  buildUsersLadder,
  describeSelection,
  describeTransfers,
  describeUsers,
  listSelectionCells,
  listSelectionColumns,
  listTransferRows,
  reachSentences,
  searchSentences,
} from '../tables/fit-table.ts';
import {
  describeCut,
  estimate,
  formatDecimal,
  formatProbability,
  formatSigned,
  formatSignificant,
} from '../tables/format.ts';
import { escapeMarkdown, formatComparison, formatDifference, formatRowsAsPipeTable } from '../tables/pipe-table.ts';
import { type PlainCell, renderPlainTable } from '../tables/plain-table.ts';
import { buildLadderCell, type LadderCell } from '../tables/table.ts';
import { renderFigurePlace, renderFolded, type Section, select } from './figure-sections.ts';
import { renderLadderTable } from './html-table.ts';

/** Families that Markdown has room for. */
const MOST = 15;

type Compared = FitResult['importance'][number]['comparisons'];

const readMetricComparison = (comparisons: Compared, metric: string) => comparisons[metric] as Compared[string];

function renderImportanceTable({ fit, metrics, statistics }: Fitted): Markup {
  const bound = 1 - statistics.level;
  return renderPlainTable({
    label: `importance in ${fit.model}`,
    headings: [
      { name: 'without', numeric: false },
      { name: 'signals', numeric: true },
      ...metrics.map((metric) => ({ name: metric, numeric: true, first: 'ascending' as const })),
    ],
    rows: fit.importance.map(({ family, signals, comparisons }) => ({
      cells: [
        { text: family },
        { text: String(signals.length), value: signals.length },
        ...metrics.map((metric) => {
          const { difference, correctedP } = readMetricComparison(comparisons, metric);
          return {
            text: `${estimate(difference, formatSigned, 3)}, p ${formatProbability(correctedP, bound)}`,
            value: difference.mean,
          };
        }),
      ],
    })),
  });
}

function describeFamilyReach(result: Fitted): string[] {
  const families = result.fit.importance.map(({ family, comparisons }) => ({ name: family, comparisons }));
  return reachSentences(result, 'families', families);
}

/** The loss of each metric without a family of signals; nothing without families. */
export function renderImportanceSection(result: Fitted): Section[] {
  const { importance } = result.fit;
  if (importance.length === 0) return [];
  const content = html`
<p class="controls">${select('importance-metric', 'metric')}</p>
${renderFigurePlace('importance-figure')}
<p class="legend">The metric without a family of signals minus with it, trained again on the same folds with the hyper-parameters chosen for each: a negative value is a loss. Filled where the p, corrected over the families, decides. ${describeFamilyReach(result).join(' ')}${describeCut(importance.length, 'families')}</p>
${renderFolded('all families', renderImportanceTable(result))}`;
  return [{ id: 'importance', name: 'What each family of signals is worth', link: 'Importance', content }];
}

/** The families of a model that are missed most, as a sentence and a pipe table; nothing where there are none. */
export function formatImportanceMarkdown(result: Fitted): string[] {
  const { metrics, statistics, fit } = result;
  const { importance } = fit;
  if (importance.length === 0) return [];
  const [first] = metrics as readonly [string, ...string[]];
  const readFamilyLoss = ({ comparisons }: FitResult['importance'][number]) =>
    readMetricComparison(comparisons, first).difference.mean;
  const rows = importance
    .toSorted((a, b) => readFamilyLoss(a) - readFamilyLoss(b))
    .slice(0, MOST)
    .map(({ family, signals, comparisons }) => [
      escapeMarkdown(family),
      String(signals.length),
      ...metrics.map((metric) => formatComparison(readMetricComparison(comparisons, metric), statistics.level)),
    ]);
  const heading = ['without', 'signals', ...metrics.map(escapeMarkdown)];
  const sentences = [describeFamilies(importance.length, first), ...describeFamilyReach(result)];
  return [escapeMarkdown(sentences.join(' ')), formatRowsAsPipeTable([heading, ...rows])];
}

function describeFamilies(families: number, metric: string): string {
  const shown =
    families <= MOST
      ? `Families: ${families}, by what is lost in ${metric}.`
      : `Families: ${families}; these ${MOST} are missed most in ${metric}, all are in metrics.json.`;
  return `Without a family of signals minus learned, marked where the p, corrected over the families, decides: the model is trained again on the same folds by what each had chosen. ${shown}`;
}

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

const formatNumberCell = (value: number) => ({ text: formatSignificant(value), value });

function renderWeightTable({ model, numbers }: FitResult): Markup {
  const formatNumberInterval = ({ interval }: LearnedNumber) =>
    interval === null ? '' : `[${formatSignificant(interval.low)}, ${formatSignificant(interval.high)}]`;
  return renderPlainTable({
    label: `numbers of ${model}`,
    headings: [
      { name: 'parameter', numeric: false },
      { name: 'number', numeric: false },
      { name: 'hand-tuned', numeric: true },
      { name: 'learned', numeric: true },
      { name: 'interval', numeric: false },
    ],
    rows: numbers.map((one) => ({
      cells: [
        { text: one.parameter },
        { text: one.label },
        formatNumberCell(one.handTuned),
        formatNumberCell(one.value),
        { text: formatNumberInterval(one) },
      ],
    })),
  });
}

function renderWeightsSection({ fit, baseline, statistics }: Fitted): Section {
  const { resamples, numbers, file } = fit;
  const searches = searchSentences(fit, baseline).map((sentence) => html`<p class="legend">${sentence}</p>`);
  const content = html`
${renderFigurePlace('weights-figure')}
<p class="legend">Trained on all conversations, in ${file}.${resamples === 0 ? '' : ` Lines are ${Math.round(100 * statistics.level)} % percentile intervals of ${resamples} trainings on resampled conversations; a number whose interval holds 0 is grey.`}${describeCut(numbers.length, 'numbers')}</p>
${searches}
${renderFolded(`all ${numbers.length} numbers`, renderWeightTable(fit))}
${renderSelection(fit)}
${renderFolded('the hyper-parameters', renderChosen(fit))}`;
  return { id: 'weights', name: 'Learned weights', link: 'Weights', content };
}

function renderSelection(fit: FitResult): Markup | string {
  const { selection = [], model } = fit;
  if (selection.length === 0) return '';
  const table = renderPlainTable({
    label: `signals selected for ${model}`,
    headings: listSelectionColumns(fit).map((name, at, all) => ({ name, numeric: at > 0 && at < all.length - 1 })),
    rows: selection.map((selected) => ({ cells: listSelectionCells(fit, selected) })),
  });
  const legend = html`<p class="legend">${describeSelection(fit)}</p>`;
  return renderFolded('the selected signals', html`${legend}${table}`);
}

/** The signals in the weight file as a sentence and a pipe table; nothing without a selection. */
export function formatSelectionMarkdown({ fit }: Fitted): string[] {
  const kept = (fit.selection ?? []).filter(({ weight }) => weight !== null);
  if (kept.length === 0) return [];
  const rows = kept.map((selected) => listSelectionCells(fit, selected).map(({ text }) => escapeMarkdown(text)));
  const heading = listSelectionColumns(fit).map(escapeMarkdown);
  return [escapeMarkdown(describeSelection(fit)), formatRowsAsPipeTable([heading, ...rows])];
}

/** Hyper-parameters by outer fold, then those of the weights in the file. */
function renderChosen({ model, folds, point, epochs }: FitResult): Markup {
  const settings = Object.keys(point);
  const buildFoldRow = (label: string, at: number, fold: Pick<FitResult, 'point' | 'epochs'>, held: string) => ({
    cells: [
      { text: label, value: at },
      { text: held },
      ...settings.map((setting) => ({ text: String(fold.point[setting]) })),
      { text: String(fold.epochs), value: fold.epochs },
    ],
  });
  const describeHeldOut = (clusters: readonly string[]) =>
    clusters.length > 3 ? `${clusters.length} conversations` : clusters.join(', ');
  return renderPlainTable({
    label: `hyper-parameters of ${model}`,
    headings: [
      { name: 'fold', numeric: true, first: 'ascending' },
      { name: 'holds out', numeric: false },
      ...settings.map((setting) => ({ name: setting, numeric: false })),
      { name: 'epochs', numeric: true },
    ],
    rows: [
      ...folds.map((fold, f) => buildFoldRow(String(f + 1), f, fold, describeHeldOut(fold.clusters))),
      buildFoldRow('all', folds.length, { point, epochs }, 'nothing'),
    ],
  });
}

function renderCurvesSection({ fit }: Fitted): Section {
  const content = html`
<div class="beside"><div><h3>Loss</h3>${renderFigurePlace('loss-figure')}</div>
<div><h3>Validation ${fit.validatedBy}</h3>${renderFigurePlace('validation-figure')}</div></div>
<p class="legend">A thin line an outer fold, the thick one all conversations. Loss: of the training on all rows of the fold, by the hyper-parameters and for the epochs that its inner folds chose. Validation: of the inner folds' trainings, on rows that they leave out, as far as all of them ran.</p>`;
  return { id: 'curves', name: 'Learning curves', link: 'Curves', content };
}

function renderCalibrationTable({ model, calibration }: FitResult): Markup {
  const formatShareCell = (value: number | null) =>
    value === null ? { text: '' } : { text: formatDecimal(value, 4), value };
  return renderPlainTable({
    label: `calibration of ${model}`,
    headings: ['at least', 'below', 'candidates', 'predicted', 'observed'].map((heading) => ({
      name: heading,
      numeric: true,
      first: 'ascending' as const,
    })),
    rows: calibration.bins.map(({ low, high, count, predicted, observed }) => ({
      cells: [
        { text: formatDecimal(low, 2), value: low },
        { text: formatDecimal(high, 2), value: high },
        { text: count.toLocaleString('en'), value: count },
        formatShareCell(predicted),
        formatShareCell(observed),
      ],
    })),
  });
}

function renderCalibrationSection({ fit }: Fitted): Section {
  const content = html`
<p>Expected calibration error ${formatDecimal(fit.calibration.expectedError, 4)}.</p>
${renderFigurePlace('calibration-figure')}
<p class="legend">Candidates by the softmax of their learned scores within their query, of conversations that the weights have not seen. On the dotted line, a candidate of probability p is relevant with a share of p. Bars count the candidates of each bin, on a logarithmic axis.</p>
${renderFolded('the counts', renderCalibrationTable(fit))}`;
  return { id: 'calibration', name: 'Calibration', link: 'Calibration', content };
}

function renderTransferSection(result: Fitted): Section[] {
  const { transfer } = result.fit;
  if (transfer.length === 0) return [];
  const [heading = [], ...rows] = listTransferRows(result);
  const content = renderPlainTable({
    label: 'weights on other data',
    headings: heading.map((name, at) => ({ name, numeric: at > 2 })),
    rows: rows.map((cells, r) => ({
      cells: cells.map((text, at) => {
        const mean = transfer[r]?.metrics[heading[at] as string]?.mean;
        return mean === undefined ? { text } : { text, value: mean };
      }),
    })),
  });
  const legend = html`<p class="legend">${describeTransfers(result).join(' ')}</p>`;
  return [{ id: 'transfer', name: 'Weights on other data', link: 'Transfer', content: html`${content}${legend}` }];
}

function renderUsersSection(result: Fitted): Section[] {
  const { users } = result;
  if (users === undefined) return [];
  const numbers = ['questions', 'share', ...MEMORY_SIGNALS];
  const table = renderPlainTable({
    label: 'weights of users',
    headings: [
      ...['user', 'strategy'].map((name) => ({ name, numeric: false })),
      ...numbers.map((name) => ({ name, numeric: true })),
    ],
    rows: users.learned.map(({ user, strategy, questions, share, weights }) => ({
      cells: [
        { text: user },
        { text: strategy },
        { text: String(questions), value: questions },
        ...[share, ...MEMORY_SIGNALS.map((name) => weights[name])].map((value) => ({
          text: formatDecimal(value, 3),
          value,
        })),
      ],
    })),
  });
  const ladder = renderLadderTable(buildUsersLadder(result, users), false, '-users');
  const content = html`${ladder}<p class="legend">${describeUsers(users)}</p>${users.learned.length === 0 ? '' : table}`;
  return [{ id: 'users', name: 'Weights of users', link: 'Users', content }];
}

/** Sections of a fit: weights, curves, calibration, importance, null controls, users, other data. */
export function renderFitSections(result: Fitted): Section[] {
  return [
    renderWeightsSection(result),
    renderCurvesSection(result),
    renderCalibrationSection(result),
    ...renderImportanceSection(result),
    ...renderFitControls(result),
    ...renderUsersSection(result),
    ...renderTransferSection(result),
  ];
}
