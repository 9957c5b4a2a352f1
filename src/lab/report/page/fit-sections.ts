import { MEMORY_SIGNALS } from '../../../rank/signals/memory-signals.ts';
import type { FitResult, LearnedNumber } from '../../measure/fit-result.ts';
import type { ExperimentResult } from '../../measure/result.ts';
import { renderFitControls } from '../tables/fit-controls.ts';
import { renderImportanceSection } from '../tables/fit-importance.ts';
import {
  buildUsersLadder,
  describeTransfers,
  describeUsers,
  type Fitted,
  isFitted,
  listTransferRows,
  searchSentences,
} from '../tables/fit-table.ts';
import { describeCut, formatDecimal, formatSignificant } from '../tables/format.ts';
import { renderPlainTable } from '../tables/plain-table.ts';
import { renderFigurePlace, renderFolded, type Section } from './figure-sections.ts';
import { renderLadderTable } from './html-table.ts';
import { html, type Markup } from './markup.ts';

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
${renderFolded('the hyper-parameters', renderChosen(fit))}`;
  return { id: 'weights', name: 'Learned weights', link: 'Weights', content };
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

/**
 * Sections of a fit: weights, curves, calibration, importance, null controls, users, other data. Empty for a result
 * without one.
 */
export function renderFitSections(result: ExperimentResult): Section[] {
  if (!isFitted(result)) return [];
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
