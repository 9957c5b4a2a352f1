import { createRequire } from 'node:module';
import { ValidationError } from '../../../core/errors/errors.ts';
import { readText } from '../../../core/files/files.ts';
import { type Content, encodeScriptJson, html, Markup } from '../../../core/text/format.ts';
import { yaml } from '../../../core/values/yaml.ts';
import {
  type ArmResult,
  type DatasetSummary,
  type Environment,
  type ExperimentResult,
  isFitted,
} from '../../measure/result.ts';
import { findAttentionPart } from '../tables/format.ts';
import { renderPassports } from '../tables/side-tables.ts';
import { buildLadderTable } from '../tables/table.ts';
import { bundleClientScript } from './client-script.ts';
import {
  renderDifferencesSection,
  renderFigurePlace,
  renderFigureSections,
  type Section,
  select,
} from './figure-sections.ts';
import { renderFitSections } from './fit-sections.ts';
import { renderDecision, renderLadderTable } from './html-table.ts';
import { INSPECTOR_STYLE, PAGE_STYLE, PRINT_STYLE } from './page-style.ts';
import { buildPayload, type Payload } from './payload.ts';

/** Experiment, data and program: everything needed to trust or repeat the numbers below. */
export function renderPageHeader(result: ExperimentResult): Markup {
  return html`
<header>
<p class="kicker">experiment ${result.hash}</p>
<h1>${result.name}</h1>
<p class="lead">${result.description}</p>
${renderRemarks(result.remarks)}
<div class="facts">
${renderDatasetFacts(result.dataset, result.queries.length)}
${runFacts(result.environment)}
${renderTimings(result.timings)}
</div>
</header>`;
}

function renderRemarks(sentences: readonly string[]): Content {
  return sentences.length === 0
    ? ''
    : html`<ul class="remarks">${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>`;
}

/** A heading with names and their values. */
function renderDefinitions(title: string, entries: readonly (readonly [string, Content])[]): Markup {
  return html`
<section><h2>${title}</h2>
<dl>${entries.map(([name, content]) => html`<div><dt>${name}</dt><dd>${content}</dd></div>`)}</dl></section>`;
}

function renderCounts(facts: Readonly<Record<string, number>>): Markup {
  const rows = Object.entries(facts).map(([name, count]) => html`${name}: ${count.toLocaleString('en')}<br>`);
  return html`<details><summary>${rows.length} of what was read, dropped and kept</summary>${rows}</details>`;
}

export function renderDatasetFacts(dataset: DatasetSummary, queries: number): Markup {
  return renderDefinitions('Dataset', [
    ['name', `${dataset.name}, ${dataset.split}`],
    ['task', dataset.task],
    ...(dataset.features.length === 0 ? [] : ([['features', dataset.features.join(', ')]] as const)),
    ['licence', dataset.licence],
    ['queries', `${queries} of ${dataset.split}`],
    ['counts', renderCounts(dataset.facts)],
    ['hash', html`<code>${dataset.hash.slice(0, 12)}</code>`],
  ]);
}

export function runFacts(environment: Environment): Markup {
  const { version, commit, node, backend, packages, machine, seed, command } = environment;
  const installed = Object.entries(packages).map(([name, number]) => html`${name} ${number}<br>`);
  return renderDefinitions('Run', [
    ['command', html`<code>${command}</code>`],
    ['version', html`${version}, commit <code>${commit.slice(0, 12)}</code>`],
    ['backend', `${backend}, node ${node}`],
    ['machine', `${machine.cores} x ${machine.cpu}, ${machine.memoryGiB.toFixed(1)} GiB, ${machine.platform}`],
    ['seed', String(seed)],
    ['packages', html`<details><summary>${installed.length} named</summary>${installed}</details>`],
  ]);
}

/** Seconds of each stage, and the kernels of tensors that it launched. */
function renderTimings(stages: ExperimentResult['timings']): Content {
  if (stages.length === 0) return '';
  const total = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  const most = Math.max(Number.MIN_VALUE, ...stages.map(({ seconds }) => seconds));
  const rows = stages.map(({ stage, seconds, launches }) => {
    const launched = launches === 0 ? '' : `, ${launches.toLocaleString('en')} launches`;
    return html`<div><dt>${stage}</dt><dd class="time"><span>${seconds.toFixed(1)} s${launched}</span><span class="bar" style="width:${((60 * seconds) / most).toFixed(1)}%"></span></dd></div>`;
  });
  return html`
<section><h2>Time</h2>
<dl>${rows}<div class="total"><dt>all</dt><dd class="time"><span>${total.toFixed(1)} s</span></dd></div></dl></section>`;
}

/** The tuned values of the arms, and the resolved config. */
export function renderSettings({ arms, config }: ExperimentResult): Markup {
  return html`
<section id="parameters"><h2>Parameters</h2>
${renderTunedArms(arms)}
${renderResolvedConfig(config)}
</section>`;
}

/** The config as it ran, folded. */
function renderResolvedConfig(config: Readonly<Record<string, unknown>>): Markup {
  return html`<details class="config"><summary>Resolved config</summary><pre tabindex="0">${yaml().stringify(config)}</pre></details>`;
}

function renderTunedArms(arms: readonly ArmResult[]): Content {
  const tunedOnes = arms.filter(({ tuned }) => Object.keys(tuned).length > 0);
  if (tunedOnes.length === 0) return html`<p>Nothing was tuned in any of ${arms.length} arms.</p>`;
  const rows = tunedOnes.map(
    ({ name, tuned }) => html`
<tr data-arm="${name}"><th scope="row" class="arm">${name}</th><td class="tuned">${renderTunedParameters(tuned)}</td></tr>`,
  );
  const others = arms.length - tunedOnes.length;
  return html`<p>What was chosen on the dev queries, an arm a row.${others === 0 ? '' : ` Nothing was tuned in ${others} of ${arms.length} arms.`}</p>
<div class="bounded"><div class="wide" role="region" aria-label="tuned parameters" tabindex="0">
<table><thead><tr><th scope="col" class="arm">arm</th><th scope="col" class="tuned">tuned</th></tr></thead><tbody>${rows}</tbody></table></div></div>`;
}

function renderTunedParameters(tuned: Readonly<Record<string, unknown>>): Markup {
  return html`${Object.entries(tuned).map(([name, value]) => html`<span class="parameter">${name} <code>${show(value)}</code></span> `)}`;
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const require = createRequire(import.meta.url);

/** Nothing is fetched: the policy forbids every address except those that Plotly creates to save an image. */
export const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/**
 * A finished run as one file that needs nothing else: table, figures, inspector, parameters and config.
 *
 * @throws ValidationError, NotFiniteError or DimensionMismatchError for a result whose parts do not fit together.
 */
export function renderHtml(result: ExperimentResult): string {
  const payload = buildPayload(result);
  const sections = [...renderFigureSections(result, payload), ...(isFitted(result) ? renderFitSections(result) : [])];
  const passports = renderPassports(result);
  const lead = payload.baseline < 0 ? [] : [renderDifferencesSection(result)];
  const table = buildLadderTable(result);
  const page = html`<!doctype html>
<html lang="en">
${renderPageHead(`${result.name} ${result.hash}`, PAGE_STYLE + INSPECTOR_STYLE)}
<body>
${renderPageHeader(result)}
${renderRunNavigation(lead, sections, passports !== '')}
<main>
${renderDecision(table.decision)}
${lead.map(renderSection)}
<section id="ladder"><h2>Table</h2>${renderLadderTable(table, passports !== '')}</section>
${sections.map(renderSection)}
${renderInspector(payload)}
${passports}
${renderSettings(result)}
</main>
<noscript><style>.figure, .controls { display: none; }</style><p>The figures and the inspector need JavaScript; the table is complete without it.</p></noscript>
${renderScripts(payload, bundleClientScript('run'))}
</body>
</html>
`;
  return page.text;
}

/** The head of a page that fetches nothing. */
export function renderPageHead(title: string, style: string): Markup {
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${new Markup(POLICY)}">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(style + PRINT_STYLE)}</style>
</head>`;
}

/** The data of a page, the library that draws it, and the page's own script. */
export function renderScripts(payload: unknown, script: string): Markup {
  return html`<script type="application/json" id="data">${encodeScriptJson(payload)}</script>
<script>${renderPlotly()}</script>
<script>${renderScript(script)}</script>`;
}

/** The library that draws: the bundle of Plotly with the fewest traces that holds bars and lines. docs/reports.md has sizes. */
export function renderPlotly(): Markup {
  return renderScript(readText(require.resolve('plotly.js-basic-dist-min')));
}

function renderSection({ id, name, content }: Section): Markup {
  return html`
<section id="${id}"><h2>${name}</h2>${content}
</section>`;
}

function renderRunNavigation(lead: readonly Section[], sections: readonly Section[], passports: boolean): Markup {
  const links = [
    ...lead.map(({ id, link }) => [id, link]),
    ['ladder', 'Table'],
    ...sections.map(({ id, link }) => [id, link]),
    ['inspector', 'Inspector'],
    ...(passports ? [['passports', 'Metrics']] : []),
    ['parameters', 'Parameters'],
  ] as const;
  return html`
<div class="bar-of-page"><nav aria-label="sections">${links.map(([id, name]) => html`<a href="#${id}">${name}</a>`)}</nav>
<p class="controls filter" hidden><label for="arm-filter">arms</label> <input id="arm-filter" type="search" placeholder="words of a name" autocomplete="off" spellcheck="false"> <span id="arm-count" class="quiet" aria-live="polite"></span></p></div>`;
}

/** @throws ValidationError for a script that would end its own element. */
export function renderScript(text: string): Markup {
  const found = /<\/?script/i.exec(text);
  if (found !== null) throw new ValidationError(`script cannot be embedded, since it contains ${found[0]}; escape it`);
  return new Markup(text);
}

/** Which rankings the inspector lacks. */
function describeHeldRankings({ arms }: Payload): Content {
  const held = arms.filter(({ rankings }) => rankings !== null).length;
  if (held === arms.length) return '';
  if (held === 0) return html`<p class="legend">The page holds no rankings, so candidates have no list here.</p>`;
  return html`<p class="legend">Rankings are here of ${held} of the ${arms.length} arms: the baseline, the best by the first metric, and the first of the config.</p>`;
}

/** The attention to the candidates, or the reason that there is none. */
function renderAttentionPart({ arms }: Payload): Markup {
  if (!arms.some(({ rankings, components }) => rankings !== null && findAttentionPart(components) >= 0))
    return html`<p class="quiet">No arm with rankings on this page has attention: there is no map of it.</p>`;
  return html`<div id="attention">
<h3>Attention</h3>
<p class="quiet">What each arm with attention gives to the candidates of A and B. Colours are shares of the greatest in a column; a turn below the ranks of the page has no cell. <span id="attention-note" aria-live="polite"></span></p>
${renderFigurePlace('attention-figure')}
</div>`;
}

/** The candidates in trajectory coordinates, or the reason that there are none. */
function renderCoordinatesPart({ arms }: Payload): Markup {
  if (!arms.some(({ coordinates, coordinateNames }) => coordinates !== null && coordinateNames.length > 0))
    return html`<p class="quiet">No arm with rankings on this page has trajectory coordinates: there is no picture of them.</p>`;
  return html`<div id="coordinates">
<h3>Trajectory coordinates</h3>
<p class="controls">${select('coordinates-across', 'across')} ${select('coordinates-up', 'up')}</p>
<p class="quiet">Circles are candidates of A with their ranks above, diamonds those of B with their ranks below, filled if relevant. A line leads to the query, the square, as it is placed in the candidate's conversation. <span id="coordinates-note" aria-live="polite"></span></p>
${renderFigurePlace('coordinates-figure')}
</div>`;
}

/** Two arms side by side on one query, and the pictures of the query. */
export function renderInspector(payload: Payload): Markup {
  return html`
<section id="inspector"><h2>Inspector</h2>
${describeHeldRankings(payload)}
<div class="inspector">
<div class="picker">
<p class="controls"><label for="query-words">find</label> <input id="query-words" type="search" placeholder="words, author or id" autocomplete="off" spellcheck="false">
<label for="query-order">order</label> <select id="query-order"><option value="gain">gain first</option><option value="loss">loss first</option><option value="time">time</option></select></p>
<p class="controls filters">${select('query-stratum', 'stratum')} ${select('query-moved', 'rank in B')} ${select('query-lost', 'B lost by')}</p>
<p id="query-count" class="quiet" aria-live="polite"></p>
<ol id="query-list" aria-label="queries"></ol>
</div>
<div class="opened">
<h3>Query</h3>
<div id="query-card" aria-live="polite"></div>
<h3>Candidates</h3>
<p class="controls">${select('inspector-left', 'A')} ${select('inspector-right', 'B')} ${select('inspector-metric', 'gain in')}</p>
<div id="rankings"></div>
<h3>Thread</h3>
<p class="quiet" id="thread-absence" hidden>No relevant turn of this query is in a conversation of this page: there is no thread to draw.</p>
<div id="thread-parts">
<p class="quiet">Replies are to the right of what they answer, with ranks in A and B. Filled circles are relevant, the square is the query. Dotted lines leave out as many turns as they say. <span id="thread-count" aria-live="polite"></span></p>
${renderFigurePlace('thread-figure')}
<p class="quiet list-note">The conversations of the relevant turns, replies indented. Turns in italics are as late as the query or later: no arm may return them.</p>
<div id="threads"></div>
</div>
${renderAttentionPart(payload)}
${renderCoordinatesPart(payload)}
</div>
</div>
</section>`;
}
