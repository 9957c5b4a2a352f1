import type { ModelResult, TrainingResult } from '../../training/training-result.ts';
import { type Content, html, type Markup } from '../page/markup.ts';
import { MOST_FIGURE_ROWS } from '../training/figure-rows.ts';

/** A part of each model under its name; with one model the name is omitted. */
export function renderPerModel({ models }: TrainingResult, part: (model: ModelResult, at: number) => Content): Markup {
  const shown = models
    .map((model, at) => [model.name, part(model, at)] as const)
    .filter(([, content]) => content !== '');
  return html`${shown.map(([name, content]) => html`${models.length === 1 ? '' : html`<h3>Model ${name}</h3>`}${content}`)}`;
}

/** How a figure's rows were chosen, if there are more. */
export function cut(count: number, what: string): string {
  if (count <= MOST_FIGURE_ROWS) return '';
  return ` The figure holds the ${MOST_FIGURE_ROWS} of ${count} ${what} that are greatest in magnitude.`;
}
