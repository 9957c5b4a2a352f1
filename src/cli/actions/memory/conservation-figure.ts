import { extname } from 'node:path';
import { ValidationError } from '../../../core/errors/errors.ts';
import { writeAtomic } from '../../../core/files/files.ts';
import { html } from '../../../core/text/format.ts';
import { renderPageHead, renderScripts } from '../../../lab/report/page/html.ts';
import { PAGE_STYLE } from '../../../lab/report/page/page-style.ts';
import type { MetricsMoment } from '../../../memory/conservation/metrics-over-time.ts';
import type { PlotlyFigure } from '../../../model/figures/figure.ts';

/** The panels of the figure, the first one on top. */
const PANELS: readonly (readonly [title: string, read: (moment: MetricsMoment) => number | null])[] = [
  ['records', ({ metrics }) => metrics?.count ?? null],
  ['magnitude M', ({ metrics }) => metrics?.magnitude ?? null],
  ['energy E', ({ metrics }) => metrics?.energy ?? null],
  ['information I, nats', ({ metrics }) => metrics?.information ?? null],
  ['drift of M', ({ drift }) => drift],
];
const GAP = 0.04;
const HEIGHT = (1 - GAP * (PANELS.length - 1)) / PANELS.length;
/** Legible on white and on black. */
const [LINE, INK, GRID, PAPER] = ['#3b82b6', '#808080', 'rgba(128,128,128,0.25)', 'rgba(0,0,0,0)'];

/** The metrics of a memory over time: a panel for each, over one axis of time. */
function buildConservationFigure(moments: readonly MetricsMoment[]): PlotlyFigure {
  const x = moments.map(({ time }) => new Date(time).toISOString());
  const data = PANELS.map(([name, read], panel) => ({
    ...{ type: 'scatter', mode: 'lines+markers', name, x, y: moments.map(read), connectgaps: false },
    ...{ xaxis: 'x', yaxis: panel === 0 ? 'y' : `y${panel + 1}`, line: { color: LINE }, marker: { size: 4 } },
  }));
  const axes = PANELS.map(([title], panel) => {
    const top = 1 - panel * (HEIGHT + GAP);
    const domain = [Math.max(0, top - HEIGHT), top];
    return [
      panel === 0 ? 'yaxis' : `yaxis${panel + 1}`,
      { domain, title: { text: title }, gridcolor: GRID, nticks: 5 },
    ];
  });
  const layout = {
    ...{ height: 900, showlegend: false, hovermode: 'x unified', margin: { l: 76, r: 24, t: 16, b: 36 } },
    ...{ paper_bgcolor: PAPER, plot_bgcolor: PAPER, font: { color: INK } },
    xaxis: { type: 'date', anchor: `y${PANELS.length}`, gridcolor: GRID },
    ...Object.fromEntries(axes),
  };
  return { data, layout };
}

const SCRIPT = `'use strict';
const { data, layout } = JSON.parse(document.getElementById('data').textContent);
Plotly.newPlot('figure', data, layout, { responsive: true, displaylogo: false });`;

function renderFigurePage(title: string, figure: PlotlyFigure): string {
  return html`<!doctype html>
<html lang="en">
${renderPageHead(title, PAGE_STYLE)}
<body>
<header><h1>${title}</h1></header>
<main>
<div id="figure" class="figure" role="img" aria-label="records, magnitude, energy, information and drift over time"></div>
<p class="legend">The records that are there, in the order of their times. M = Σ α |e|, E = ½ |Σ α e/|e||², I = −Σ α ln α, with the shares α of salience. Drift is the relative change of M since the point before.</p>
</main>
<noscript><p>The figure needs JavaScript; 'ragpp memory stats --format json' has its numbers.</p></noscript>
${renderScripts(figure, SCRIPT)}
</body>
</html>
`.text;
}

/**
 * Writes the figure of the memory in a folder: as a page that needs nothing else, or as JSON of Plotly.
 *
 * @throws StorageError.
 */
export type WriteFigure = (folder: string, moments: readonly MetricsMoment[]) => void;

/** @param path ends with `.html` or `.json`. @throws ValidationError for another ending. */
export function openFigure(path: string): WriteFigure {
  const ending = extname(path);
  if (ending !== '.html' && ending !== '.json')
    throw new ValidationError(`figure is written as .html or .json: ${path}; choose one of these endings`, { path });
  return (folder, moments) => {
    const figure = buildConservationFigure(moments);
    const json = `${JSON.stringify(figure)}\n`;
    writeAtomic(path, ending === '.json' ? json : renderFigurePage(`Conservation of ${folder}`, figure));
  };
}
