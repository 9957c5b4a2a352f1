import { MEMORY_SIGNALS } from '../../../rank/signals/memory-signals.ts';
import type { LearnedNumber, ModelResult, TrainingResult } from '../../training/training-result.ts';
import { renderFigurePlace, renderFolded, type Section } from '../page/figure-sections.ts';
import { html, type Markup } from '../page/markup.ts';
import { formatDecimal, formatSignificant } from '../tables/format.ts';
import { cut, renderPerModel } from '../tables/model-parts.ts';
import { renderPlainTable } from '../tables/plain-table.ts';
import { renderControlsSection } from './training-controls.ts';
import { renderImportanceSection } from './training-importance.ts';
import { renderTrainingStrata } from './training-strata.ts';
import { describeTransfers, listTransferRows } from './training-table.ts';

const formatNumberCell = (value: number) => ({ text: formatSignificant(value), value });

function weightTable({ name, numbers }: ModelResult): Markup {
  const formatNumberInterval = ({ interval }: LearnedNumber) =>
    interval === null ? '' : `[${formatSignificant(interval.low)}, ${formatSignificant(interval.high)}]`;
  return renderPlainTable({
    label: `numbers of ${name}`,
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

function renderWeightsSection(result: TrainingResult): Section {
  const { resamples, level } = result.config.evaluation;
  const content = renderPerModel(
    result,
    (model, at) => html`
${renderFigurePlace(`weights-figure-${at}`)}
<p class="legend">Trained on all conversations.${resamples === 0 ? '' : ` Lines are ${Math.round(100 * level)} % percentile intervals of ${resamples} trainings on resampled conversations; a number whose interval holds 0 is grey.`}${cut(model.numbers.length, 'numbers')}</p>
${renderFolded(`all ${model.numbers.length} numbers`, weightTable(model))}`,
  );
  return { id: 'weights', name: 'Learned weights', link: 'Weights', content };
}

function renderCurvesSection(result: TrainingResult): Section {
  const content = renderPerModel(
    result,
    (_, at) => html`
<div class="beside"><div><h3>Loss</h3>${renderFigurePlace(`loss-figure-${at}`)}</div>
<div><h3>Validation ${result.config.fitting.metric}</h3>${renderFigurePlace(`validation-figure-${at}`)}</div></div>
<p class="legend">A thin line an outer fold, the thick one all conversations. Loss: of the training on all rows of the fold, by the hyper-parameters and for the epochs that its inner folds chose. Validation: of the inner folds' trainings, on rows that they leave out, as far as all of them ran.</p>`,
  );
  return { id: 'curves', name: 'Learning curves', link: 'Curves', content };
}

function renderCalibrationTable({ name, calibration }: ModelResult): Markup {
  const formatShareCell = (value: number | null) =>
    value === null ? { text: '' } : { text: formatDecimal(value, 4), value };
  return renderPlainTable({
    label: `calibration of ${name}`,
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

function renderCalibrationSection(result: TrainingResult): Section {
  const content = renderPerModel(
    result,
    (model, at) => html`
<p>Expected calibration error ${formatDecimal(model.calibration.expectedError, 4)}.</p>
${renderFigurePlace(`calibration-figure-${at}`)}
<p class="legend">Candidates by the softmax of their learned scores within their query, of conversations that the weights have not seen. On the dotted line, a candidate of probability p is relevant with a share of p. Bars count the candidates of each bin, on a logarithmic axis.</p>
${renderFolded('the counts', renderCalibrationTable(model))}`,
  );
  return { id: 'calibration', name: 'Calibration', link: 'Calibration', content };
}

function renderTransferSection(result: TrainingResult): Section[] {
  if (result.transfer.length === 0) return [];
  const [heading = [], ...rows] = listTransferRows(result);
  const content = renderPlainTable({
    label: 'weights on other data',
    headings: heading.map((name, at) => ({ name, numeric: at > 2 })),
    rows: rows.map((cells, r) => ({
      cells: cells.map((text, at) => {
        const mean = result.transfer[r]?.metrics[heading[at] as string]?.mean;
        return mean === undefined ? { text } : { text, value: mean };
      }),
    })),
  });
  const legend = html`<p class="legend">${describeTransfers(result).join(' ')}</p>`;
  return [{ id: 'transfer', name: 'Weights on other data', link: 'Transfer', content: html`${content}${legend}` }];
}

function renderUsersSection({ users }: TrainingResult): Section[] {
  if (users === undefined || users.learned.length === 0) return [];
  const numbers = ['questions', 'share', ...MEMORY_SIGNALS];
  const content = renderPlainTable({
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
  return [{ id: 'users', name: 'Weights of users', link: 'Users', content }];
}

/** The parts of the page below its table of methods. */
export function renderTrainingSections(result: TrainingResult): Section[] {
  const strata = renderPerModel(result, (model) => renderTrainingStrata(result, model));
  return [
    ...(result.strata.length === 0
      ? []
      : [{ id: 'strata', name: 'By kind of query', link: 'Strata', content: strata }]),
    renderWeightsSection(result),
    renderCurvesSection(result),
    renderCalibrationSection(result),
    ...renderImportanceSection(result),
    ...renderControlsSection(result),
    ...renderUsersSection(result),
    ...renderTransferSection(result),
  ];
}
