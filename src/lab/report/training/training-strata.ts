import { chooseVerdict } from '../../../eval/significance/verdict.ts';
import type { StratumValue } from '../../measure/result.ts';
import type { MethodResult, ModelResult, TrainingResult } from '../../training/training-result.ts';
import { renderFolded } from '../page/figure-sections.ts';
import { html, type Markup } from '../page/markup.ts';
import { formatDecimal, formatProbability, formatSigned } from '../tables/format.ts';
import { describeStratumTest, MARKS } from '../tables/legend.ts';
import { type PlainCell, renderPlainTable } from '../tables/plain-table.ts';

/** The mark of a difference that its corrected p decides. */
function chooseDifferenceMark({ difference, correctedP }: StratumValue, level: number): string {
  if (difference === null || correctedP === null) return '';
  return MARKS[chooseVerdict(difference.mean, { correctedP }, level)];
}

function meanCell(value: StratumValue | undefined, level: number): PlainCell {
  if (value === undefined) return { text: '' };
  return {
    text: [formatDecimal(value.mean, 3), chooseDifferenceMark(value, level)].filter(Boolean).join(' '),
    value: value.mean,
  };
}

/** The difference of the method that was learned from the baseline. */
function formatDifferenceCell(value: StratumValue | undefined, bound: number): PlainCell {
  if (value?.difference == null) return { text: '' };
  const { difference, correctedP } = value;
  const p = correctedP === null ? '' : `, p ${formatProbability(correctedP, bound)}`;
  const interval = `[${formatSigned(difference.low, 2)}, ${formatSigned(difference.high, 2)}]`;
  return { text: `${formatSigned(difference.mean, 3)} ${interval}${p}`, value: difference.mean };
}

/** One metric of each method by stratum, a row a level. */
function renderStrataTable(
  { strata, level }: TrainingResult,
  { name, methods, baseline }: ModelResult,
  metric: string,
): Markup {
  const bound = 1 - level;
  const last = methods.findLast((method) => method.name !== baseline) as MethodResult;
  const getStratumValue = (method: MethodResult, stratum: string, at: string) => method.strata[stratum]?.[at]?.[metric];
  return renderPlainTable({
    label: `${metric} of ${name} by stratum`,
    headings: [
      { name: 'stratum', numeric: false },
      { name: 'level', numeric: false },
      { name: 'queries', numeric: true },
      { name: `${last.name} − ${baseline}`, numeric: true },
      ...methods.map((method) => ({ name: method.name, numeric: true })),
    ],
    rows: strata.flatMap((stratum) =>
      stratum.levels.map((at) => ({
        cells: [
          { text: stratum.name },
          { text: at.name },
          { text: String(at.queries.length), value: at.queries.length },
          formatDifferenceCell(getStratumValue(last, stratum.name, at.name), bound),
          ...methods.map((method) => meanCell(getStratumValue(method, stratum.name, at.name), level)),
        ],
      })),
    ),
  });
}

/** The methods by kinds of queries: the first metric in sight, the others folded. */
export function renderTrainingStrata(result: TrainingResult, model: ModelResult): Markup {
  const [first, ...others] = result.metrics as [string, ...string[]];
  return html`
<h3>${first}</h3>${renderStrataTable(result, model, first)}
${others.map((metric) => renderFolded(metric, renderStrataTable(result, model, metric)))}
<p class="legend">Means, with ${MARKS.better} or ${MARKS.worse} where the p of the difference from ${model.baseline}, corrected over levels and methods, decides. ${describeStratumTest()} Brackets: ${Math.round(100 * result.level)} % cluster-robust t intervals; a level of one or two conversations has no difference.</p>
<dl class="definitions">${result.strata.map(({ name, description }) => html`<div><dt>${name}</dt><dd>${description}</dd></div>`)}</dl>`;
}
