import { type Content, html, type Markup } from './markup.ts';
import type { LadderCell, LadderRow, LadderTable } from './table.ts';

/** The ladder as a table that sorts by every column; sorted by the place in the ladder to begin with. */
export function htmlTable(table: LadderTable): Markup {
  const headings = [
    heading('arm', 'ascending', html` aria-sort="ascending" class="arm"`),
    ...table.metrics.map((metric) => heading(metric, 'descending', html` class="metric"`)),
    heading('unjudged', 'ascending', ''),
  ];
  return html`
<p class="legend" id="ladder-caption">Mean and interval of every arm; below them the difference from ${table.baseline}, its interval and its corrected p.</p>
<div class="wide" role="region" aria-label="the ladder" tabindex="0">
<table class="ladder sortable" aria-describedby="ladder-caption">
<thead><tr>${headings}</tr></thead>
<tbody>${table.rows.map((row, place) => htmlRow(row, place, table.baseline))}</tbody>
</table>
</div>
<p class="legend">${table.legend.map((sentence) => html`${sentence}<br>`)}unjudged: turns without a judgement among the top ranks, over all queries.</p>`;
}

function heading(name: string, first: string, more: Content): Markup {
  return html`<th scope="col" data-first="${first}"${more}><button type="button">${name}</button></th>`;
}

function htmlRow(row: LadderRow, place: number, baseline: string): Markup {
  const note = row.isBaseline ? html` <span class="badge baseline">baseline</span>` : '';
  return html`
<tr${row.isBaseline ? html` class="is-baseline"` : ''}><th scope="row" class="arm" data-value="${place}">${row.arm}${note}<span class="description">${row.description}</span></th>
${row.cells.map((cell) => htmlCell(cell, baseline))}<td class="holes" data-value="${row.holes}">${row.holes}</td></tr>`;
}

function htmlCell({ mean, verdict, mark, value, interval, comparison }: LadderCell, baseline: string): Markup {
  const sign = mark === '' ? '' : html`<span role="img" aria-label="${verdict} than ${baseline}">${mark}</span>`;
  const against =
    comparison === null
      ? ''
      : html`<span>${comparison.difference}</span><span>${comparison.interval}</span><span>p ${comparison.p}</span>`;
  return html`<td class="metric" data-value="${mean}"><span class="cell"><span class="value">${value}</span><span>${interval}</span><span class="mark ${verdict}">${sign}</span>${against}</span></td>`;
}
