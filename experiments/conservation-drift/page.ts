import { POLICY, renderPlotly, renderScript } from '../../src/report/page/html.ts';
import { encodeScriptJson, html, Markup } from '../../src/report/page/markup.ts';
import { PAGE_STYLE } from '../../src/report/page/page-style.ts';
import { formatDuration, formatMinute } from '../../src/report/tables/format.ts';
import type { TextTable } from '../text-table.ts';
import { type DriftResult, NAME } from './experiment.ts';
import { COLOURS, type PlotlyFigure } from './figure.ts';
import { buildDriftTable, buildOperationTable } from './tables.ts';

const STYLE = `
body { max-width: 1100px; }
table { overflow-wrap: normal; }
#figure { min-width: 760px; }
th:first-child { text-align: left; }
.facts { grid-template-columns: 1fr 1fr; }
@media (max-width: 800px) {
  body { padding: 1.5rem 1rem 3rem; }
  .facts { grid-template-columns: 1fr; }
  .facts dl > div { grid-template-columns: 7em minmax(0, 1fr); }
}
thead th { white-space: normal; vertical-align: bottom; }
tbody tr.first > * { border-top: 2px solid var(--undecided); }
`;

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

function renderDriftTable({ head, rows }: TextTable, rowsAGroup: number): Markup {
  const renderDriftCells = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`));
  return html`
<div class="wide" tabindex="0"><table><thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row, at) => html`<tr${at % rowsAGroup === 0 && at > 0 ? new Markup(' class="first"') : ''}>${renderDriftCells(row)}</tr>`)}</tbody></table></div>`;
}

function renderDriftHeader({
  hash,
  settings,
  environment,
  dataset,
  messages,
  zeroVectors,
  dimension,
  policies,
  span,
}: DriftResult): Markup {
  const { command, version, commit, backend, machine, seed } = environment;
  const formatDay = (time: number) => formatMinute(time).slice(0, 10);
  return html`
<header>
<p class="kicker">experiment ${hash}</p>
<h1>${NAME}</h1>
<p class="lead">A corpus of ${messages.toLocaleString('en')} messages replayed in time order into a memory that forgets: what happens to its magnitude, energy and information.</p>
<div class="facts">
<section><h2>Policies</h2><dl>${policies.map(({ name, description }) => html`<div><dt>${name}</dt><dd>${description}</dd></div>`)}</dl></section>
<section><h2>Run</h2><dl>
<div><dt>command</dt><dd><code>${command}</code></dd></div>
<div><dt>data</dt><dd>${dataset.name} (${dataset.licence})</dd></div>
<div><dt>vectors</dt><dd>${settings.embedding.encoder}, ${dimension} dimensions, ${zeroVectors} of them zero</dd></div>
<div><dt>table</dt><dd>from ${formatDay(span.start)} to ${formatDay(span.end)}, ${formatDuration(span.end - span.start)}</dd></div>
<div><dt>version</dt><dd>${version}, commit <code>${commit}</code>, backend ${backend}, seed ${seed}</dd></div>
<div><dt>machine</dt><dd>${machine.cores} x ${machine.cpu}, ${machine.platform}</dd></div>
</dl></section>
</div>
</header>`;
}

/** The result as one page that needs nothing else. */
export function renderDriftPage(result: DriftResult, figure: PlotlyFigure): string {
  const groups = result.policies[0]?.drifts.length ?? 1;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${new Markup(POLICY)}">
<meta name="color-scheme" content="light dark">
<title>${NAME} ${result.hash}</title>
<style>${new Markup(PAGE_STYLE + STYLE)}</style>
</head>
<body>
${renderDriftHeader(result)}
<main>
<section><h2>Over time</h2>
<div class="wide" tabindex="0"><div id="figure" class="figure" role="img" aria-label="messages held, magnitude, energy and information of each policy, day by day"></div></div>
<p class="legend">The memory at the end of each day. M = Σ α |e|, E = ½ |Σ α e/|e||² in [0, ½], I = −Σ α ln α, with salience α summing to 1. A line breaks off where a memory is empty.</p>
</section>
<section><h2>Drift</h2>${renderDriftTable(buildDriftTable(result), groups)}
<p class="legend">Initial and final are the two ends of the time in which at least ${result.settings.leastMessages} messages came in the ${result.settings.retentionDays} days before. The last two columns go through all pairs of its days that are ${result.settings.retentionDays} days apart.</p>
</section>
<section><h2>Operations</h2>${renderDriftTable(buildOperationTable(result), 100)}
<p class="legend">Each addition and each removal held to the laws: magnitude may change by 5 %, information that falls is noted.</p>
</section>
</main>
<noscript><p>The figure needs JavaScript; the tables are complete without it.</p></noscript>
<script type="application/json" id="data">${encodeScriptJson({ figure, colours: COLOURS })}</script>
<script>${renderPlotly()}</script>
<script>${renderScript(SCRIPT)}</script>
</body>
</html>
`.text;
}
