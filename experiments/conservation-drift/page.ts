import { html, type Markup } from '../../src/core/text/format.ts';
import { formatDuration, formatMinute } from '../../src/lab/report/tables/format.ts';
import { type PlotlyFigure, renderFigurePage, renderTable } from '../figure-page.ts';
import { type DriftResult, NAME } from './experiment.ts';
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
  const sections = html`<section><h2>Over time</h2>
<div class="wide" tabindex="0"><div id="figure" class="figure" role="img" aria-label="messages held, magnitude, energy and information of each policy, day by day"></div></div>
<p class="legend">The memory at the end of each day. M = Σ α |e|, E = ½ |Σ α e/|e||² in [0, ½], I = −Σ α ln α, with salience α summing to 1. A line breaks off where a memory is empty.</p>
</section>
<section><h2>Drift</h2>${renderTable(buildDriftTable(result), groups)}
<p class="legend">Initial and final are the two ends of the time in which at least ${result.settings.leastMessages} messages came in the ${result.settings.retentionDays} days before. The last two columns go through all pairs of its days that are ${result.settings.retentionDays} days apart.</p>
</section>
<section><h2>Operations</h2>${renderTable(buildOperationTable(result), 100)}
<p class="legend">Each addition and each removal held to the laws: magnitude may change by 5 %, information that falls is noted.</p>
</section>`;
  return renderFigurePage({
    title: `${NAME} ${result.hash}`,
    style: STYLE,
    header: renderDriftHeader(result),
    sections,
    figure,
  });
}
