import type { LearnedNumber, ModelResult, TrainingResult } from '../../training/training-result.ts';
import { figure, folded, type Section } from '../page/figure-sections.ts';
import { html, type Markup } from '../page/markup.ts';
import { decimal, significant } from '../tables/format.ts';
import { cut, perModel } from '../tables/model-parts.ts';
import { plainTable } from '../tables/plain-table.ts';
import { controlsSection } from './training-controls.ts';
import { importanceSection } from './training-importance.ts';
import { trainingStrata } from './training-strata.ts';
import { transferRows, transferSentences } from './training-table.ts';

const number = (value: number) => ({ text: significant(value), value });

function weightTable({ name, numbers }: ModelResult): Markup {
  const interval = ({ interval }: LearnedNumber) =>
    interval === null ? '' : `[${significant(interval.low)}, ${significant(interval.high)}]`;
  return plainTable({
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
        number(one.handTuned),
        number(one.value),
        { text: interval(one) },
      ],
    })),
  });
}

function weightsSection(result: TrainingResult): Section {
  const { resamples, level } = result.config.evaluation;
  const content = perModel(
    result,
    (model, at) => html`
${figure(`weights-figure-${at}`)}
<p class="legend">Trained on all conversations.${resamples === 0 ? '' : ` Lines are ${Math.round(100 * level)} % percentile intervals of ${resamples} trainings on resampled conversations; a number whose interval holds 0 is grey.`}${cut(model.numbers.length, 'numbers')}</p>
${folded(`all ${model.numbers.length} numbers`, weightTable(model))}`,
  );
  return { id: 'weights', name: 'Learned weights', link: 'Weights', content };
}

function curvesSection(result: TrainingResult): Section {
  const content = perModel(
    result,
    (_, at) => html`
<div class="beside"><div><h3>Loss</h3>${figure(`loss-figure-${at}`)}</div>
<div><h3>Validation ${result.config.fitting.metric}</h3>${figure(`validation-figure-${at}`)}</div></div>
<p class="legend">A thin line an outer fold, the thick one all conversations. Loss: of the training on all rows of the fold, by the hyper-parameters and for the epochs that its inner folds chose. Validation: of the inner folds' trainings, on rows that they leave out, as far as all of them ran.</p>`,
  );
  return { id: 'curves', name: 'Learning curves', link: 'Curves', content };
}

function calibrationTable({ name, calibration }: ModelResult): Markup {
  const share = (value: number | null) => (value === null ? { text: '' } : { text: decimal(value, 4), value });
  return plainTable({
    label: `calibration of ${name}`,
    headings: ['at least', 'below', 'candidates', 'predicted', 'observed'].map((heading) => ({
      name: heading,
      numeric: true,
      first: 'ascending' as const,
    })),
    rows: calibration.bins.map(({ low, high, count, predicted, observed }) => ({
      cells: [
        { text: decimal(low, 2), value: low },
        { text: decimal(high, 2), value: high },
        { text: count.toLocaleString('en'), value: count },
        share(predicted),
        share(observed),
      ],
    })),
  });
}

function calibrationSection(result: TrainingResult): Section {
  const content = perModel(
    result,
    (model, at) => html`
<p>Expected calibration error ${decimal(model.calibration.expectedError, 4)}.</p>
${figure(`calibration-figure-${at}`)}
<p class="legend">Candidates by the softmax of their learned scores within their query, of conversations that the weights have not seen. On the dotted line, a candidate of probability p is relevant with a share of p. Bars count the candidates of each bin, on a logarithmic axis.</p>
${folded('the counts', calibrationTable(model))}`,
  );
  return { id: 'calibration', name: 'Calibration', link: 'Calibration', content };
}

function transferSection(result: TrainingResult): Section[] {
  if (result.transfer.length === 0) return [];
  const [heading = [], ...rows] = transferRows(result);
  const content = plainTable({
    label: 'weights on other data',
    headings: heading.map((name, at) => ({ name, numeric: at > 2 })),
    rows: rows.map((cells, r) => ({
      cells: cells.map((text, at) => {
        const mean = result.transfer[r]?.metrics[heading[at] as string]?.mean;
        return mean === undefined ? { text } : { text, value: mean };
      }),
    })),
  });
  const legend = html`<p class="legend">${transferSentences(result).join(' ')}</p>`;
  return [{ id: 'transfer', name: 'Weights on other data', link: 'Transfer', content: html`${content}${legend}` }];
}

/** The parts of the page below its table of methods. */
export function trainingSections(result: TrainingResult): Section[] {
  const strata = perModel(result, (model) => trainingStrata(result, model));
  return [
    ...(result.strata.length === 0
      ? []
      : [{ id: 'strata', name: 'By kind of query', link: 'Strata', content: strata }]),
    weightsSection(result),
    curvesSection(result),
    calibrationSection(result),
    ...importanceSection(result),
    ...controlsSection(result),
    ...transferSection(result),
  ];
}
