import { escapeHtml, formatSignificant } from '../text/format.ts';

declare const shown: unique symbol;

/**
 * A text that displays, reports and messages may hold: it passed {@link showText}, or it is no text of data.
 * Results are shared and notebooks are stored, so what builds them takes no plain string.
 */
export type ShowableText = string & { readonly [shown]: true };

/** In the place of a sensitive text. */
const NOT_SHOWN = stateShown('(sensitive: not shown)');

/** A text of data, or its place holder if it is sensitive. The one place where texts of data become showable. */
export function showText(text: string, isSensitive: boolean): ShowableText {
  return isSensitive ? NOT_SHOWN : (text as ShowableText);
}

/** States that a text is a name, an id, or the program's own words. Not for texts of data. */
export function stateShown(text: string): ShowableText {
  return text as ShowableText;
}

/** A sentence of the program's own words with numbers and showable texts between: phrase`status ${404}`. */
export function phrase(words: TemplateStringsArray, ...values: readonly (ShowableText | number)[]): ShowableText {
  return String.raw({ raw: words }, ...values) as ShowableText;
}

/** The beginning of a showable text on one line. @param most characters, the ellipsis included. */
export function shortenShown(text: ShowableText, most: number): ShowableText {
  const line = text.replace(/\s+/g, ' ').trim();
  return (line.length > most ? `${line.slice(0, most - 1)}…` : line) as ShowableText;
}

/**
 * How a value shows itself in a notebook. Deno's kernel calls the method with this symbol and sends the result to the front end, which shows the richest
 * representation that it knows. The method is not enumerable: JSON, copies and comparisons of a result do not see it.
 */
export const DISPLAY: unique symbol = Symbol.for('Jupyter.display');

/** One value in several representations, by MIME type. */
export interface MimeBundle {
  readonly 'text/plain': string;
  readonly 'text/html'?: string;
  readonly 'image/svg+xml'?: string;
  /** A figure for Plotly: `data` and `layout`. */
  readonly 'application/vnd.plotly.v1+json'?: object;
}

/** A value with a representation of its own in notebooks. */
export interface Displayable {
  [DISPLAY](): MimeBundle | Promise<MimeBundle>;
}

/**
 * Adds the method of {@link DISPLAY} to a result, out of sight of JSON and of comparisons.
 *
 * @param display called when a notebook shows the value, and not before.
 * @returns the same object.
 */
export function attachDisplay<T extends object>(value: T, display: (value: T) => MimeBundle | Promise<MimeBundle>): T {
  return Object.defineProperty(value, DISPLAY, { value: () => display(value), configurable: true, writable: true });
}

/** What a notebook shows of several displays, one below the other. */
export function joinBundles(bundles: readonly MimeBundle[]): MimeBundle {
  const [first] = bundles;
  if (first !== undefined && bundles.length === 1) return first;
  const list = (type: 'text/plain' | 'text/html') => bundles.map((bundle) => bundle[type] ?? '').filter(Boolean);
  return { 'text/plain': list('text/plain').join('\n\n'), 'text/html': list('text/html').join('\n') };
}

/** A row of a table, by the names of its columns. */
export type DisplayRow = Readonly<Record<string, unknown>>;

/** The value of a cell of a result. */
export type ShownCell = ShowableText | number | boolean | null | undefined;

/** A row of a result. */
export type ShownRow = Readonly<Record<string, ShownCell>>;

/** Rows that a notebook shows as a table. */
export interface DisplayTable {
  /** A line above the table; empty for none. */
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly DisplayRow[];
}

/** The caption of a table in a notebook, its columns in their order, and the most rows that it shows. */
export interface TableOptions {
  readonly caption?: string;
  /** By default the columns of all rows, in the order in which they first occur. */
  readonly columns?: readonly string[];
  /** Rows beyond this number are counted below the table; by default 30. */
  readonly limit?: number;
}

const ROW_LIMIT = 30;

/** Whole numbers as they are, others with four digits; nothing for null. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : formatSignificant(value);
  return typeof value === 'object' ? (JSON.stringify(value) ?? String(value)) : String(value);
}

function listColumns(rows: readonly DisplayRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

function isNumeric(column: string, rows: readonly DisplayRow[]): boolean {
  const values = rows.map((row) => row[column]).filter((value) => value !== null && value !== undefined);
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

function describeHidden(hidden: number): string {
  return hidden === 0 ? '' : `and ${hidden} more ${hidden === 1 ? 'row' : 'rows'}`;
}

function formatTextTable({ caption, columns, rows }: DisplayTable, hidden: number): string {
  const texts = rows.map((row) => columns.map((column) => formatCell(row[column]).replace(/\s+/g, ' ')));
  const lines = [columns, ...texts].map((_, at) => at);
  const aligned = columns.map((column, at) => {
    const cells = [column, ...texts.map((row) => row[at] as string)];
    const width = Math.max(...cells.map((cell) => cell.length));
    const numeric = isNumeric(column, rows);
    return cells.map((cell) => (numeric ? cell.padStart(width) : cell.padEnd(width)));
  });
  const body = lines.map((line) =>
    aligned
      .map((cells) => cells[line])
      .join('  ')
      .trimEnd(),
  );
  return [caption, ...body, describeHidden(hidden)].filter((line) => line !== '').join('\n');
}

/** Beside a column with longer cells, narrow columns would be broken: a date into year-month and day. */
const LONG_CELL = 60;
const NARROW_CELL = 24;

/** The style of each column. If a cell is so long that it is wrapped, narrow columns stay on one line. */
function listColumnStyles(columns: readonly string[], rows: readonly DisplayRow[]): string[] {
  const widths = columns.map((column) => Math.max(0, ...rows.map((row) => formatCell(row[column]).length)));
  const isWrapped = widths.some((width) => width > LONG_CELL);
  return columns.map((column, at) => {
    const align = `text-align: ${isNumeric(column, rows) ? 'right' : 'left'}`;
    const wrap = isWrapped && (widths[at] as number) <= NARROW_CELL ? '; white-space: nowrap' : '';
    return ` style="${align}${wrap}"`;
  });
}

function formatHtmlTable({ caption, columns, rows }: DisplayTable, hidden: number): string {
  const align = listColumnStyles(columns, rows);
  const head = columns.map((column, at) => `<th${align[at]}>${escapeHtml(column)}</th>`).join('');
  const body = rows.map((row) => {
    const cells = columns.map((column, at) => `<td${align[at]}>${escapeHtml(formatCell(row[column]))}</td>`);
    return `<tr>${cells.join('')}</tr>`;
  });
  const title = caption === '' ? '' : `<p>${escapeHtml(caption)}</p>\n`;
  const more = hidden === 0 ? '' : `\n<p>${describeHidden(hidden)}</p>`;
  return `${title}<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>${more}`;
}

/** The table of a result as text and as HTML without colours, so that a dark front end shows it in its own. */
export function buildTableBundle(
  rows: readonly ShownRow[],
  options: Omit<TableOptions, 'caption'> & { readonly caption?: ShowableText } = {},
): MimeBundle {
  return buildOwnTable(rows, options);
}

function buildOwnTable(rows: readonly DisplayRow[], options: TableOptions): MimeBundle {
  const { caption = '', columns = listColumns(rows), limit = ROW_LIMIT } = options;
  const table = { caption, columns, rows: rows.slice(0, limit) };
  const hidden = rows.length - table.rows.length;
  return { 'text/plain': formatTextTable(table, hidden), 'text/html': formatHtmlTable(table, hidden) };
}

/**
 * A table of the caller's own rows for a notebook, which are shown as they are: the last value of a cell.
 *
 * @param given plain objects; numbers that are not whole are shown with four digits.
 */
export function showTable(given: readonly object[], options: TableOptions = {}): DisplayTable {
  const rows = given as readonly DisplayRow[];
  const table = { caption: options.caption ?? '', columns: options.columns ?? listColumns(rows), rows };
  return attachDisplay(table, () => buildOwnTable(rows, options));
}
