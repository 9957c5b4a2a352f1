import type { DatasetSummary, Environment, ExperimentResult } from '../../measure/result.ts';
import { type Content, html, type Markup } from './markup.ts';

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

function renderTimings(stages: ExperimentResult['timings']): Content {
  if (stages.length === 0) return '';
  const total = stages.reduce((sum, { seconds }) => sum + seconds, 0);
  const rows = stages.map(
    ({ stage, seconds }) =>
      html`<div><dt>${stage}</dt><dd class="time"><span>${seconds.toFixed(1)} s</span><span class="bar" style="width:${formatTimeShare(seconds, stages)}%"></span></dd></div>`,
  );
  return html`
<section><h2>Time</h2>
<dl>${rows}<div class="total"><dt>all</dt><dd class="time"><span>${total.toFixed(1)} s</span></dd></div></dl></section>`;
}

function formatTimeShare(seconds: number, stages: ExperimentResult['timings']): string {
  const most = Math.max(...stages.map((stage) => stage.seconds));
  return most === 0 ? '0' : ((60 * seconds) / most).toFixed(1);
}
