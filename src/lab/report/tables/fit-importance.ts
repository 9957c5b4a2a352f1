import type { FitResult } from '../../measure/fit-result.ts';
import { renderFigurePlace, renderFolded, type Section, select } from '../page/figure-sections.ts';
import { html, type Markup } from '../page/markup.ts';
import { type Fitted, reachSentences } from './fit-table.ts';
import { describeCut, estimate, formatProbability, formatSigned } from './format.ts';
import { escapeMarkdown, formatComparison, formatRowsAsPipeTable } from './pipe-table.ts';
import { renderPlainTable } from './plain-table.ts';

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

/** What each metric loses without a family of signals; nothing without families. */
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
