import { html, Markup } from '../src/core/text/format.ts';
import { renderPageHead, renderScripts } from '../src/lab/report/page/html.ts';
import { PAGE_STYLE } from '../src/lab/report/page/page-style.ts';
import type { TextTable } from './text-table.ts';

/** A figure as Plotly takes it. */
export interface PlotlyFigure {
  readonly data: readonly object[];
  readonly layout: object;
}

/** Colours of the printed figure, and what stands for each on a dark page. */
export const COLOURS: Readonly<Record<string, string>> = {
  '#1c1b19': '#e9e6df',
  '#66625a': '#a19c91',
  '#dedad2': '#393732',
  '#fdfcfa': '#161614',
  '#8a857b': '#8f8a80',
  '#12608f': '#7dbbe8',
  '#c2571a': '#f2986c',
  '#2f7d4a': '#8cc79a',
};

/** Draws the figure, in the colours of the reader's scheme; runs in the page. */
const SCRIPT = `'use strict';
const { figure, colours } = JSON.parse(document.getElementById('data').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)');
function draw() {
  const text = JSON.stringify(figure);
  const { data, layout } = JSON.parse(dark.matches ? text.replace(/#[0-9a-f]{6}/g, (colour) => colours[colour] ?? colour) : text);
  Plotly.react('figure', data, layout, { responsive: true, displaylogo: false, modeBarButtons: [['toImage', 'resetScale2d']] });
}
dark.addEventListener('change', draw);
draw();`;

/** @param rowsAGroup rows from one rule to the next. */
export function renderTable({ head, rows }: TextTable, rowsAGroup: number): Markup {
  const renderCells = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`));
  return html`
<div class="wide" tabindex="0"><table><thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row, at) => html`<tr${at % rowsAGroup === 0 && at > 0 ? new Markup(' class="first"') : ''}>${renderCells(row)}</tr>`)}</tbody></table></div>`;
}

interface FigurePage {
  readonly title: string;
  /** Rules beside those of every page. */
  readonly style: string;
  readonly header: Markup;
  /** Sections, one of which has the place `figure`. */
  readonly sections: Markup;
  readonly figure: PlotlyFigure;
}

/** A page with one figure, which needs nothing else. */
export function renderFigurePage({ title, style, header, sections, figure }: FigurePage): string {
  return html`<!doctype html>
<html lang="en">
${renderPageHead(title, PAGE_STYLE + style)}
<body>
${header}
<main>
${sections}
</main>
<noscript><p>The figure needs JavaScript; the tables are complete without it.</p></noscript>
${renderScripts({ figure, colours: COLOURS }, SCRIPT)}
</body>
</html>
`.text;
}
