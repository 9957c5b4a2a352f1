import { type Content, html, type Markup } from '../../../core/text/format.ts';
import type { ArmConservation } from '../../measure/conservation.ts';
import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import { countSeeds } from '../../measure/warning.ts';
import { formatFate } from '../tables/format.ts';
import { renderInteractionTable } from '../tables/interactions.ts';
import { countConversations, describeIntervals, describeStratumTest } from '../tables/legend.ts';
import { renderPlainTable } from '../tables/plain-table.ts';
import {
  describeConservation,
  describeLatency,
  listSlicedArms,
  listStepRows,
  renderConservationTable,
  renderEvidenceTable,
  renderLatencyTable,
  renderSliceStrata,
  renderSliceTable,
  renderStepTable,
  renderStructureLegend,
  renderStructureTable,
  STEP_LEGEND,
} from '../tables/side-tables.ts';
import type { Payload } from './payload.ts';

/** Relevant turns by their fate, one row per arm. */
export function renderAttributionTable(arms: readonly ArmResult[], fates: readonly string[]): Markup {
  const rows = arms
    .filter(({ attribution }) => Object.keys(attribution).length > 0)
    .map(({ name, attribution }) => ({
      arm: name,
      cells: [
        { text: name },
        ...fates.map((fate) => ({ text: String(attribution[fate] ?? 0), value: attribution[fate] ?? 0 })),
      ],
    }));
  const headings = [
    { name: 'arm', numeric: false },
    ...fates.map((fate) => ({ name: formatFate(fate), numeric: true })),
  ];
  return renderPlainTable({ label: 'fate of the relevant turns', headings, rows });
}

/** A part of the page that the navigation leads to. */
export interface Section {
  readonly id: string;
  readonly name: string;
  /** Its name in the navigation. */
  readonly link: string;
  readonly content: Markup;
}

export function select(id: string, label: string): Markup {
  return html`<span class="control"><label for="${id}">${label}</label><select id="${id}"></select></span>`;
}

export function renderFigurePlace(id: string): Markup {
  return html`<div id="${id}" class="figure" role="img"></div>`;
}

/** The figures that there are data for. */
export function renderFigureSections(result: ExperimentResult, payload: Payload): Section[] {
  const compared = payload.baseline >= 0;
  return [
    renderArmsSection(result, compared),
    ...(compared ? [renderGainsSection()] : []),
    ...(payload.budgets.length === 0 ? [] : [renderEvidenceSection(result)]),
    ...(result.arms[0]?.conservation ? [renderConservationSection(result.arms, result.arms[0].conservation)] : []),
    ...renderStepsSection(result),
    ...renderControlsFigure(result),
    ...renderSweepSection(result, payload),
    ...(compared && payload.strata.length > 0 ? [renderStrataSection(result)] : []),
    ...(payload.fates.length === 0 ? [] : [renderAttributionSection(result, payload)]),
    ...renderSlicesSection(result),
    ...(result.arms.every(({ latency }) => latency === null) ? [] : [renderLatencySection(result, compared)]),
  ];
}

/** The first figure of the page: what the arms change. Not of a run whose baseline failed. */
export function renderDifferencesSection({ baseline, queries, statistics, arms }: ExperimentResult): Section {
  const intervals = describeIntervals(countConversations(queries), statistics.level, countSeeds(arms));
  const content = html`
<p class="controls">${select('differences-metric', 'metric')}</p>
<p id="differences-count" class="legend" aria-live="polite"></p>
${renderFigurePlace('differences-figure')}
<p class="legend">Each arm minus ${baseline}, the line at 0. Whiskers are ${intervals}. Triangles point up or down where the corrected p says better or worse; grey dots are undecided.</p>`;
  return { id: 'differences', name: `Differences from ${baseline}`, link: 'Differences', content };
}

function renderArmsSection({ queries, statistics, arms }: ExperimentResult, compared: boolean): Section {
  const intervals = describeIntervals(countConversations(queries), statistics.level, countSeeds(arms));
  const content = html`
<p class="controls">${select('arms-metric', 'metric')}</p>
<p id="arms-count" class="legend" aria-live="polite"></p>
${renderFigurePlace('arms-figure')}
<p class="legend">Dots are means, whiskers their intervals: ${intervals}.${compared ? ' The diamond and the dotted line are the baseline; triangles point up or down where the corrected p says better or worse.' : ''}</p>`;
  return { id: 'arms', name: 'Means of the arms', link: 'Means', content };
}

function renderGainsSection(): Section {
  const content = html`
<p class="controls">${select('gains-arm', 'arm')} ${select('gains-metric', 'metric')}</p>
<p id="gains-summary" class="legend" aria-live="polite"></p>
${renderFigurePlace('gains-figure')}
<p class="legend">A click on a bar opens its query in the inspector. The dotted line is the open query.</p>`;
  return { id: 'gains', name: 'Gains and losses by query', link: 'Queries', content };
}

function renderEvidenceSection({ queries, statistics, arms }: ExperimentResult): Section {
  const intervals = describeIntervals(countConversations(queries), statistics.level, countSeeds(arms));
  const content = html`
<p class="controls">${select('evidence-arm', 'ceiling of')}</p>
<p id="evidence-count" class="legend" aria-live="polite"></p>
${renderFigurePlace('evidence-figure')}
<p class="legend">The share of the relevant turns within a budget of tokens. Whiskers are ${intervals}, not corrected over the budgets; those of different arms stand side by side. The dotted line is what the chosen arm would reach if its relevant turns were packed first.</p>
${renderFolded('all figures', renderEvidenceTable(arms))}`;
  return { id: 'evidence', name: 'Evidence against tokens', link: 'Evidence', content };
}

function renderConservationSection(arms: readonly ArmResult[], measured: ArmConservation): Section {
  const content = html`
<p class="controls">${select('conservation-arm', 'arm')}</p>
<p id="conservation-note" class="legend" aria-live="polite"></p>
${renderFigurePlace('conservation-figure')}
<p class="legend">${describeConservation(measured)}</p>
${renderFolded('all figures', renderConservationTable(arms))}`;
  return { id: 'conservation', name: 'Conservation of what queries are shown', link: 'Conservation', content };
}

function renderStepsSection({ arms }: ExperimentResult): Section[] {
  if (listStepRows(arms).length === 0) return [];
  const content = html`<p class="legend">${STEP_LEGEND}</p>${renderStepTable(arms)}`;
  return [{ id: 'steps', name: 'What the steps change', link: 'Steps', content }];
}

function renderControlsFigure(result: ExperimentResult): Section[] {
  if (result.arms.every(({ structure }) => structure === null)) return [];
  const content = html`${renderStructureLegend(result)}${renderStructureTable(result)}`;
  return [{ id: 'controls', name: 'Null controls', link: 'Controls', content }];
}

function renderSweepSection(
  { sweep, statistics, queries }: ExperimentResult,
  { factors, crossed, start }: Payload,
): Section[] {
  if (sweep === null || factors.length === 0) return [];
  const pairs = crossed && factors.length > 1;
  const design = factors.map(({ name, levels }) => `${name} (${levels.length})`).join(crossed ? ' × ' : ', ');
  const content = html`
<p class="legend">${sweep.method}: ${design}. The figures hold the arms that the filter shows${pairs ? '; factors that are not drawn are averaged or held at a level' : ''}.</p>
<p class="controls">${select('sweep-metric', 'metric')} ${select('sweep-across', 'across')} ${pairs ? select('sweep-by', 'by') : ''}</p>
${pairs ? html`<p class="controls" id="sweep-held"></p>` : ''}
${pairs ? html`<div id="sweep-map"><h3>Heat map</h3>${renderFigurePlace('heat-map')}<p class="legend">Means over the arms of a cell; empty cells were not run.</p></div>` : ''}
<h3>${pairs ? 'Interaction plot' : 'Levels of a factor'}</h3>
${renderFigurePlace('interaction-plot')}
<p class="legend">Whiskers are the arm's interval where a point is one arm, and else the t interval of the mean over its arms with errors clustered by conversation.${pairs ? ' Parallel lines: no interaction.' : ''}${crossed || start < 0 ? '' : ` The dotted line is ${sweep.arm}, which the sweep starts from.`}</p>
<div id="sweep-lines"><h3>Parallel coordinates</h3>${renderFigurePlace('parallel-coordinates')}<p class="legend">A line an arm, coloured by the metric on the last axis; within a level, lines are spread in the order of the metric.</p></div>
${renderInteractionTable(sweep, statistics, countConversations(queries))}`;
  return [{ id: 'sweep', name: 'Sweep', link: 'Sweep', content }];
}

function renderStrataSection({ strata, baseline, statistics, queries, arms }: ExperimentResult): Section {
  const whole = describeIntervals(countConversations(queries), statistics.level, countSeeds(arms));
  const content = html`
<p class="controls">${select('strata-arm', 'arm')} ${select('strata-metric', 'metric')}</p>
<p id="strata-summary" class="legend" aria-live="polite"></p>
${renderFigurePlace('strata-figure')}
<p class="legend">Differences from ${baseline} on the queries of each level, with cluster-robust t intervals; filled where the p, corrected over levels and arms, decides. ${describeStratumTest()} All queries: ${whole}. Levels without an interval have the queries of one or two conversations.</p>
<dl class="definitions">${strata.map(({ name, description }) => html`<div><dt>${name}</dt><dd>${description}</dd></div>`)}</dl>`;
  return { id: 'strata', name: 'Gains by stratum', link: 'Strata', content };
}

function renderAttributionSection({ arms }: ExperimentResult, { fates }: Payload): Section {
  const content = html`
<p id="attribution-count" class="legend" aria-live="polite"></p>
${renderFigurePlace('attribution-figure')}
<p class="legend">Every relevant turn of every query: kept, or lost by the stage that is named. The inspector says it of each turn.</p>
${renderFolded('the counts', renderAttributionTable(arms, fates))}`;
  return { id: 'attribution', name: 'Where relevant turns are lost', link: 'Losses', content };
}

function renderSlicesSection({ arms }: ExperimentResult): Section[] {
  if (listSlicedArms(arms).length === 0) return [];
  const content = html`
${renderSliceTable(arms)}
<p class="legend">What a signed slice leaves out, no later stage can find: its relevant turns are inadmissible. A refused query sees nothing. A null control has the sizes of the slices of its arm.</p>
${renderFolded('inadmissible turns by stratum', renderSliceStrata(arms))}`;
  return [{ id: 'slices', name: 'Slices', link: 'Slices', content }];
}

function renderLatencySection(result: ExperimentResult, compared: boolean): Section {
  const { arms } = result;
  const content = html`
<p class="controls">${select('latency-arm', 'arm')}</p>
<p id="latency-note" class="legend" aria-live="polite"></p>
${renderFigurePlace('latency-figure')}
<p class="legend">Milliseconds a query: the dot is the median, the bar ends at p95, the open diamond is p99.${compared ? ' The baseline is grey.' : ''} ${describeLatency(result) ?? ''}</p>
${renderFolded('all figures', renderLatencyTable(arms))}`;
  return { id: 'latency', name: 'Latency by component', link: 'Latency', content };
}

export function renderFolded(summary: string, content: Content): Markup {
  return html`<details class="folded"><summary>${summary}</summary>${content}</details>`;
}
