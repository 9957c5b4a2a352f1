import type { ModelResult, TrainingResult } from '../../training/training-result.ts';
import { html, type Markup } from '../page/markup.ts';
import { renderPlainTable } from '../tables/plain-table.ts';
import { renderResolvedConfig } from '../tables/settings.ts';

/** What each outer fold chose, and what the weights in the file were trained with. */
function renderChosen({ name, folds, point, epochs }: ModelResult): Markup {
  const settings = Object.keys(point);
  const buildFoldRow = (
    label: string,
    foldIndex: number,
    fold: Pick<ModelResult, 'point' | 'epochs'>,
    held: string,
  ) => ({
    cells: [
      { text: label, value: foldIndex },
      { text: held },
      ...settings.map((setting) => ({ text: String(fold.point[setting]) })),
      { text: String(fold.epochs), value: fold.epochs },
    ],
  });
  const describeHeldOut = (clusters: readonly string[]) =>
    clusters.length > 3 ? `${clusters.length} conversations` : clusters.join(', ');
  return renderPlainTable({
    label: `hyper-parameters of ${name}`,
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

/** Hyper-parameters by fold, the weight files, and the config. */
export function renderTrainingSettings({ models, config }: TrainingResult): Markup {
  return html`
<section id="settings"><h2>Settings</h2>
<p>What the inner folds chose, an outer fold a row; the last row is what the weight file was trained with.</p>
${models.map((model) => html`${models.length === 1 ? '' : html`<h3>Model ${model.name}</h3>`}<p class="legend">${model.file}</p><div class="bounded">${renderChosen(model)}</div>`)}
${renderResolvedConfig(config)}
</section>`;
}
