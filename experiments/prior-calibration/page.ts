import { html } from '../../src/core/text/format.ts';
import { type PlotlyFigure, renderFigurePage, renderTable } from '../figure-page.ts';
import type { TaskResult } from './measure.ts';
import type { PriorCalibrationSettings } from './settings.ts';
import { buildCoverageTable, buildReliabilityTable, buildScoreTable } from './tables.ts';

const STYLE = `
body { max-width: 1200px; }
#figure { min-width: 900px; }
th:first-child { text-align: left; }
table { margin-bottom: 1.6rem; }
`;

/** The result as one page that needs nothing else. */
export function renderPriorPage(
  tasks: readonly TaskResult[],
  settings: PriorCalibrationSettings,
  figure: PlotlyFigure,
  provenance: string,
): string {
  const all = (build: (task: TaskResult) => Parameters<typeof renderTable>[0]) =>
    tasks.map((task) => renderTable(build(task), 100));
  return renderFigurePage({
    title: 'prior-calibration',
    style: STYLE,
    header: html`<header>
<h1>prior-calibration</h1>
<p class="lead">How well the outcomes of the nearest earlier turns predict the outcome of a turn.</p>
<p class="legend">${provenance}</p>
</header>`,
    sections: html`<section><h2>Reliability</h2>
<div class="wide" tabindex="0"><div id="figure" class="figure" role="img" aria-label="observed over predicted shares of each task"></div></div>
<p class="legend">Observed over predicted shares of test turns in ${settings.bins} bins; larger marks hold more turns. Calibrated predictions lie on the dotted line.</p>
${all(buildReliabilityTable)}
</section>
<section><h2>Predictions</h2>${all((task) => buildScoreTable(task, settings))}
<p class="legend">Lower is better. Brackets hold intervals clustered by thread.</p>
</section>
<section><h2>Coverage of the 95 % interval</h2>${all(buildCoverageTable)}
</section>`,
    figure,
  });
}
