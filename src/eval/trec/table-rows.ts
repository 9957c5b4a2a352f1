import { ValidationError } from '../../core/errors/errors.ts';

/** A row of a table: values by the names of their columns. */
export type TableRow = Readonly<Record<string, unknown>>;

/**
 * A table as programs hand it over: rows; columns by name (`{ query_id: [...] }`); a data frame of danfo (`columns` and `values`), of arquero (`objects()`) or of
 * nodejs-polars (`toRecords()`).
 */
export type Table =
  | readonly TableRow[]
  | Readonly<Record<string, ArrayLike<unknown>>>
  | { readonly columns: readonly string[]; readonly values: unknown }
  | { objects(): readonly object[] }
  | { toRecords(): readonly object[] };

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isColumn(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** Rows of cells under the names of their columns. */
function zipRows(columns: readonly string[], values: readonly unknown[]): TableRow[] {
  return values.map((cells, r) => {
    if (!Array.isArray(cells) || cells.length !== columns.length)
      throw new ValidationError(
        `row ${r} of the data frame has ${Array.isArray(cells) ? cells.length : 'no'} cells for ${columns.length} columns; pass a cell for each column`,
        { row: r },
      );
    return Object.fromEntries(columns.map((name, c) => [name, cells[c]]));
  });
}

function zipColumns(columns: Readonly<Record<string, ArrayLike<unknown>>>): TableRow[] {
  const entries = Object.entries(columns);
  const [first] = entries;
  const different = entries.find(([, values]) => values.length !== first?.[1].length);
  if (first === undefined || different !== undefined)
    throw new ValidationError(
      `columns have different lengths: ${entries.map(([name, { length }]) => `${name} ${length}`).join(', ')}; pass a value for each row`,
    );
  return Array.from({ length: first[1].length }, (_, r) =>
    Object.fromEntries(entries.map(([name, values]) => [name, values[r]])),
  );
}

/**
 * The rows of a table.
 *
 * @returns undefined for a value that is no table.
 * @throws ValidationError for rows that are no objects, and for cells and columns that do not fit together.
 */
export function listTableRows(table: unknown): readonly TableRow[] | undefined {
  if (Array.isArray(table)) return assertRows(table);
  if (!isObject(table)) return undefined;
  if (typeof table.toRecords === 'function') return assertRows(table.toRecords());
  if (typeof table.objects === 'function') return assertRows(table.objects());
  if (Array.isArray(table.columns) && Array.isArray(table.values))
    return zipRows(table.columns.map(String), table.values);
  const values = Object.values(table);
  return values.length > 0 && values.every(isColumn)
    ? zipColumns(table as Record<string, ArrayLike<unknown>>)
    : undefined;
}

function assertRows(rows: unknown): readonly TableRow[] {
  const wrong = Array.isArray(rows) ? rows.findIndex((row) => !isObject(row) || Array.isArray(row)) : 0;
  if (wrong !== -1)
    throw new ValidationError(
      `row ${wrong} is no object: ${JSON.stringify(Array.isArray(rows) ? rows[wrong] : rows)}; pass rows such as { query_id, doc_id, score }`,
      { row: wrong },
    );
  return rows as readonly TableRow[];
}
