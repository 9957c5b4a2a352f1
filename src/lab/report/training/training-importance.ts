import type { ModelResult, TrainingResult } from '../../training/training-result.ts';
import { renderFigurePlace, renderFolded, type Section, select } from '../page/figure-sections.ts';
import { html, type Markup } from '../page/markup.ts';
import { formatComparison } from '../tables/difference-text.ts';
import { estimate, formatProbability, formatSigned } from '../tables/format.ts';
import { escapeMarkdown, formatRowsAsPipeTable } from '../tables/markdown.ts';
import { cut, renderPerModel } from '../tables/model-parts.ts';
import { renderPlainTable } from '../tables/plain-table.ts';
import { reachSentences } from './training-statistics.ts';

/** Families that Markdown has room for. */
const MOST = 15;

type Compared = ModelResult['importance'][number]['comparisons'];

const readMetricComparison = (comparisons: Compared, metric: string) => comparisons[metric] as Compared[string];

function renderImportanceTable({ name, importance }: ModelResult, metrics: readonly string[], bound: number): Markup {
  return renderPlainTable({
    label: `importance in ${name}`,
    headings: [
      { name: 'without', numeric: false },
      { name: 'signals', numeric: true },
      ...metrics.map((metric) => ({ name: metric, numeric: true, first: 'ascending' as const })),
    ],
    rows: importance.map(({ family, signals, comparisons }) => ({
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

function describeFamilyReach(
  result: Pick<TrainingResult, 'config' | 'metrics' | 'level'>,
  model: Pick<ModelResult, 'importance' | 'measured'>,
): string[] {
  const families = model.importance.map(({ family, comparisons }) => ({ name: family, comparisons }));
  return reachSentences(result, model, 'families', families);
}

/** What each metric loses without a family of signals; nothing without families. */
export function renderImportanceSection(result: TrainingResult): Section[] {
  const { models, metrics, level } = result;
  if (models.every(({ importance }) => importance.length === 0)) return [];
  const content = renderPerModel(result, (model, at) =>
    model.importance.length === 0
      ? ''
      : html`
<p class="controls">${select(`importance-metric-${at}`, 'metric')}</p>
${renderFigurePlace(`importance-figure-${at}`)}
<p class="legend">The metric without a family of signals minus with it, trained again on the same folds with the hyper-parameters chosen for each: a negative value is a loss. Filled where the p, corrected over the families, decides. ${describeFamilyReach(result, model).join(' ')}${cut(model.importance.length, 'families')}</p>
${renderFolded('all families', renderImportanceTable(model, metrics, 1 - level))}`,
  );
  return [{ id: 'importance', name: 'What each family of signals is worth', link: 'Importance', content }];
}

/** The families of a model that are missed most, as a sentence and a pipe table; nothing where there are none. */
export function formatImportanceMarkdown(
  result: Pick<TrainingResult, 'config' | 'metrics' | 'level'>,
  model: Pick<ModelResult, 'importance' | 'measured'>,
): string[] {
  const { metrics, level } = result;
  const { importance } = model;
  if (importance.length === 0) return [];
  const [first] = metrics as readonly [string, ...string[]];
  const readFamilyLoss = ({ comparisons }: ModelResult['importance'][number]) =>
    readMetricComparison(comparisons, first).difference.mean;
  const rows = importance
    .toSorted((a, b) => readFamilyLoss(a) - readFamilyLoss(b))
    .slice(0, MOST)
    .map(({ family, signals, comparisons }) => [
      escapeMarkdown(family),
      String(signals.length),
      ...metrics.map((metric) => formatComparison(readMetricComparison(comparisons, metric), level)),
    ]);
  const heading = ['without', 'signals', ...metrics.map(escapeMarkdown)];
  const sentences = [describeFamilies(importance.length, first), ...describeFamilyReach(result, model)];
  return [escapeMarkdown(sentences.join(' ')), formatRowsAsPipeTable([heading, ...rows])];
}

function describeFamilies(families: number, metric: string): string {
  const shown =
    families <= MOST
      ? `Families: ${families}, by what is lost in ${metric}.`
      : `Families: ${families}; these ${MOST} are missed most in ${metric}, all are in metrics.json.`;
  return `Without a family of signals minus learned, marked where the p, corrected over the families, decides: the model is trained again on the same folds by what each had chosen. ${shown}`;
}
