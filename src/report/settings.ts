import { stringify } from 'yaml';
import type { ExperimentResult } from '../experiment/result.ts';
import { html, type Markup } from './markup.ts';

/** What tuning chose for each arm, and the resolved config. */
export function settings({ arms, config }: ExperimentResult): Markup {
  const rows = arms.map(
    ({ name, tuned }) => html`
<tr><th scope="row" class="arm">${name}</th><td class="tuned">${parameters(tuned)}</td></tr>`,
  );
  return html`
<section id="parameters"><h2>Parameters</h2>
<p>What was chosen on the dev queries, an arm a row.</p>
<div class="wide" role="region" aria-label="tuned parameters" tabindex="0">
<table><thead><tr><th scope="col" class="arm">arm</th><th scope="col" class="tuned">tuned</th></tr></thead><tbody>${rows}</tbody></table></div>
<details class="config"><summary>Resolved config</summary><pre tabindex="0">${stringify(config)}</pre></details>
</section>`;
}

function parameters(tuned: Readonly<Record<string, unknown>>): Markup {
  const entries = Object.entries(tuned);
  if (entries.length === 0) return html`<span class="quiet">nothing was tuned</span>`;
  return html`${entries.map(([name, value]) => html`<span class="parameter">${name} <code>${show(value)}</code></span> `)}`;
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
