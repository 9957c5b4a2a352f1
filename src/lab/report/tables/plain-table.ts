import { html, type Markup } from '../../../core/text/format.ts';

/** A text as lines of at most `width` letters, broken between words, and within a word that is longer. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => cutIntoPieces(whole, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

function cutIntoPieces(word: string, width: number): string[] {
  const count = Math.max(1, Math.ceil(word.length / width));
  return Array.from({ length: count }, (_, at) => word.slice(at * width, (at + 1) * width));
}

/** A cell of a table: what it shows, and the number that it is sorted by, if different. */
export interface PlainCell {
  readonly text: string;
  readonly value?: number;
}

interface Heading {
  readonly name: string;
  readonly numeric: boolean;
  /** The first order of the column; by default numbers descending and words ascending. */
  readonly first?: 'ascending' | 'descending';
}

export interface PlainTable {
  readonly label: string;
  /** A heading a column. */
  readonly headings: readonly Heading[];
  readonly rows: readonly { readonly arm?: string; readonly cells: readonly PlainCell[] }[];
}

/** A table that sorts by every column. A row that is about an arm is hidden with it. */
export function renderPlainTable({ label, headings, rows }: PlainTable): Markup {
  const head = headings.map(
    ({ name, numeric, first = numeric ? 'descending' : 'ascending' }) =>
      html`<th scope="col" data-first="${first}"${numeric ? '' : html` class="word"`}><button type="button">${name}</button></th>`,
  );
  const body = rows.map(
    ({ arm, cells }) => html`
<tr${arm === undefined ? '' : html` data-arm="${arm}"`}>${cells.map((cell, at) => renderPlainCell(cell, headings[at]?.numeric ?? false))}</tr>`,
  );
  return html`
<div class="wide" role="region" aria-label="${label}" tabindex="0"><table class="sortable plain"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function renderPlainCell({ text, value }: PlainCell, numeric: boolean): Markup {
  return html`<td${numeric ? '' : html` class="word"`}${value === undefined ? '' : html` data-value="${value}"`}>${text}</td>`;
}
