import { yaml } from '../../../core/values/yaml.ts';
import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import { type Content, html, type Markup } from '../page/markup.ts';

/** The tuned values of the arms, and the resolved config. */
export function renderSettings({ arms, config }: ExperimentResult): Markup {
  return html`
<section id="parameters"><h2>Parameters</h2>
${renderTunedArms(arms)}
${renderResolvedConfig(config)}
</section>`;
}

/** The config as it ran, folded. */
export function renderResolvedConfig(config: Readonly<Record<string, unknown>>): Markup {
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
