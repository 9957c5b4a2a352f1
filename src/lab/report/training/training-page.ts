import type { TrainingResult } from '../../training/training-result.ts';
import { bundleClientScript } from '../page/client-script.ts';
import type { Section } from '../page/figure-sections.ts';
import { renderInspector, renderPageHead, renderScripts } from '../page/html.ts';
import { renderDecision, renderLadderTable } from '../page/html-table.ts';
import { INSPECTOR_STYLE } from '../page/inspector-style.ts';
import { html, type Markup } from '../page/markup.ts';
import { renderDatasetFacts, runFacts } from '../page/page-header.ts';
import { PAGE_STYLE } from '../page/page-style.ts';
import type { LadderTable } from '../tables/table.ts';
import { buildTrainingPayload } from './training-payload.ts';
import { renderTrainingSections } from './training-sections.ts';
import { renderTrainingSettings } from './training-settings.ts';
import { buildMethodLadder, describeFolds, describePool, describeUsers, searchSentences } from './training-table.ts';

const TRAINING_STYLE = `
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem; }
.beside > div { min-width: 0; }
.beside h3 { margin-top: 0; }
.facts.two { grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
`;

/**
 * A training as one file that needs nothing else: methods, strata, weights, curves, calibration, importance, null controls, transfer and settings.
 *
 * @throws ValidationError, NotFiniteError for a result whose parts do not fit together.
 */
export function renderTrainingHtml(result: TrainingResult): string {
  const sections = renderTrainingSections(result);
  const payload = buildTrainingPayload(result);
  return html`<!doctype html>
<html lang="en">
${renderPageHead(`${result.name} ${result.hash}`, PAGE_STYLE + INSPECTOR_STYLE + TRAINING_STYLE)}
<body>
${renderTrainingHeader(result)}
${renderTrainingNavigation(sections, payload.inspection !== null)}
<main>
<section id="methods"><h2>Methods</h2>
${renderLadders(result)}</section>
${sections.map(
  ({ id, name, content }) => html`
<section id="${id}"><h2>${name}</h2>${content}
</section>`,
)}
${payload.inspection === null ? '' : renderInspector(payload.inspection)}
${renderTrainingSettings(result)}
</main>
<noscript><p>The figures need JavaScript; the tables are complete without it.</p></noscript>
${renderScripts(payload, bundleClientScript('training'))}
</body>
</html>
`.text;
}

function renderTrainingHeader(result: TrainingResult): Markup {
  return html`
<header>
<p class="kicker">training ${result.hash}</p>
<h1>${result.name}</h1>
<p class="lead">${result.description}</p>
<ul class="remarks"><li>${describeFolds(result)}</li><li>${describePool(result)}</li></ul>
<div class="facts two">
${renderDatasetFacts(result.dataset, result.queries)}
${runFacts(result.environment)}
</div>
</header>`;
}

function renderTrainingNavigation(sections: readonly Section[], inspects: boolean): Markup {
  const links = [
    ['methods', 'Methods'],
    ...sections.map(({ id, link }) => [id, link]),
    ...(inspects ? [['inspector', 'Inspector']] : []),
    ['settings', 'Settings'],
  ];
  return html`
<div class="bar-of-page"><nav aria-label="sections">${links.map(([id, name]) => html`<a href="#${id as string}">${name as string}</a>`)}</nav></div>`;
}

/** A ladder below what it decides. */
function renderDecidedLadder(table: LadderTable, words: { readonly row: string; readonly suffix: string }): Markup {
  return html`${renderDecision(table.decision)}${renderLadderTable(table, false, words)}`;
}

function renderLadders(result: TrainingResult): Markup[] {
  const ladders = result.models.map((model, at) => {
    const words = { row: 'method', suffix: `-${at}` };
    const heading = result.models.length === 1 ? '' : html`<h3>Model ${model.name}</h3>`;
    const searches = searchSentences(model).map((sentence) => html`<p class="legend">${sentence}</p>`);
    return html`${heading}${renderDecidedLadder(buildMethodLadder(result, model), words)}${searches}`;
  });
  if (result.users === undefined) return ladders;
  const words = { row: 'method', suffix: '-users' };
  const table = renderDecidedLadder(buildMethodLadder(result, result.users), words);
  return [...ladders, html`<h3>Weights of users</h3>${table}<p class="legend">${describeUsers(result.users)}</p>`];
}
