import { type Content, html, type Markup } from '../../../core/text/format.ts';
import type { AbsentRow, LadderCell, LadderComparison, LadderRow, LadderTable } from '../tables/table.ts';

/** With more rows than this the table scrolls within a frame, its headings staying in sight. */
const LONG = 30;

/** The most metrics with roomy cells. Deviations of seeds make cells wider, so that it is one less with them. */
const ROOMY = 4;

/** The classes of the table, for its widths. */
function chooseWidths({ metrics, rows }: LadderTable): string {
  const isRepeated = rows.some(({ cells }) => cells.some(({ value }) => value.includes('±')));
  const isDense = metrics.length > (isRepeated ? ROOMY - 1 : ROOMY);
  return `${isRepeated ? ' repeated' : ''}${isDense ? ' dense' : ''}`;
}

/** The sentences of what a table decides, for the place above the first figure. */
export function renderDecision(sentences: readonly string[]): Content {
  return sentences.length === 0 ? '' : html`<p class="lead decision">${sentences.join(' ')}</p>`;
}

function renderEffectsSwitch(suffix: string): Markup {
  return html`<p class="controls"><span class="control"><input class="with-effects" id="with-effects${suffix}" type="checkbox"><label for="with-effects${suffix}">effect sizes</label></span></p>`;
}

/**
 * The ladder as a table that sorts by every column, null controls staying below their arm; in the order of the ladder to begin with, and again where a heading is
 * used a third time. Effect sizes are there
 * too and are shown when asked for, without a script.
 *
 * @param suffix tells the ids of one ladder from those of another on the page.
 * @param passports whether the page explains each metric, in an element `passport-<place>`.
 */
export function renderLadderTable(table: LadderTable, passports: boolean, suffix = ''): Markup {
  const headings = [
    renderHeading('arm', 'ascending', html` class="arm"`),
    ...table.metrics.map((metric, at) =>
      renderHeading(metric, 'descending', html` class="metric"`, passports ? renderPassportLink(metric, at) : ''),
    ),
    renderHeading('unjudged', 'ascending', ''),
  ];
  return html`
<div class="ladder-part">
<p class="legend" id="ladder-caption${suffix}">Mean and interval of every arm${table.compared ? `; below them the difference from ${table.baseline}, its interval and its corrected p` : ''}.</p>
${table.compared ? renderEffectsSwitch(suffix) : ''}
<div class="wide ladder-frame${table.rows.length > LONG ? ' long' : ''}" role="region" aria-label="the ladder${suffix}" tabindex="0">
<table class="ladder sortable${chooseWidths(table)}" aria-describedby="ladder-caption${suffix}">
<thead><tr>${headings}</tr></thead>
<tbody>${table.rows.map((one) => renderLadderRow(one, table.baseline))}${table.absent.map((row) => renderAbsentRow(row, table.metrics.length))}</tbody>
</table>
</div>
<p class="legend">${table.legend.map((sentence) => html`${sentence}<br>`)}unjudged: turns without a judgement among the top ranks, over all queries.<span class="effects-legend"><br>d: Cohen's d of the paired differences. mde: the least difference that a test of these queries finds with power .8. w/t/l: queries that the arm wins, ties and loses.</span></p>
</div>`;
}

function renderHeading(name: string, first: string, more: Content, after: Content = ''): Markup {
  return html`<th scope="col" data-first="${first}"${more}><button type="button">${name}</button>${after}</th>`;
}

function renderPassportLink(metric: string, at: number): Markup {
  return html` <a class="passport-link" href="#passport-${at}" aria-label="what ${metric} is, exactly">?</a>`;
}

function renderLadderRow(row: LadderRow, baseline: string): Markup {
  const kind = row.isBaseline ? html` class="is-baseline"` : row.control === null ? '' : html` class="is-control"`;
  const group = row.control === null ? '' : html` data-of="${row.control.of}"`;
  return html`
<tr${kind} data-arm="${row.arm}"${group}><th scope="row" class="arm" data-name="${row.arm}">${row.arm}${renderRowBadges(row)}<span class="description">${row.description}</span></th>
${row.cells.map((cell) => renderLadderCell(cell, baseline))}<td class="holes" data-value="${row.holes}">${row.holes}</td></tr>`;
}

function renderRowBadges({ isBaseline, control, survives }: LadderRow): Content[] {
  return [
    isBaseline ? html` <span class="badge baseline">baseline</span>` : '',
    control === null
      ? ''
      : html` <span class="badge control-kind" title="of ${control.of}">null control: ${control.kind}</span>`,
    survives.length === 0
      ? ''
      : html` <span class="badge unexplained">not due to structure: the gain survives ${survives.join(', ')}</span>`,
  ];
}

function renderAbsentRow({ arm, description, kind, reason }: AbsentRow, metrics: number): Markup {
  return html`
<tr class="is-absent" data-arm="${arm}"><th scope="row" class="arm" data-name="${arm}">${arm} <span class="badge ${kind}">${kind}</span><span class="description">${description}</span></th>
<td class="reason" colspan="${metrics + 1}">${reason}</td></tr>`;
}

function renderLadderCell({ mean, verdict, mark, value, interval, comparison }: LadderCell, baseline: string): Markup {
  const sign = mark === '' ? '' : html`<span role="img" aria-label="${verdict} than ${baseline}">${mark}</span>`;
  const against =
    comparison === null
      ? ''
      : html`<span>${comparison.difference}</span><span>${comparison.interval}</span><span>p ${comparison.p}</span>`;
  return html`<td class="metric" data-value="${mean}"><span class="cell"><span class="value">${value}</span><span>${interval}</span><span class="mark ${verdict}">${sign}</span>${against}</span>${comparison === null ? '' : renderEffects(comparison)}</td>`;
}

function renderEffects({ effectSize, minimumDetectable, counts }: LadderComparison): Markup {
  return html`<span class="effects">d ${effectSize} · mde ${minimumDetectable}<br>w/t/l ${counts}</span>`;
}
