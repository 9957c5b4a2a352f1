import { ValidationError } from '../../core/errors/errors.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { displayRun, type Qrels, type Run } from '../../model/run.ts';
import { compareScored, type Scored } from '../../model/turns/tie-rule.ts';

/** A row of a table: values by the names of their columns. */
type TableRow = Readonly<Record<string, unknown>>;

/**
 * A table as programs hand it over: rows; columns by name (`{ query_id: [...] }`); a data frame of danfo (`columns` and
 * `values`), of arquero (`objects()`) or of nodejs-polars (`toRecords()`).
 */
type Table =
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
function listTableRows(table: unknown): readonly TableRow[] | undefined {
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

/** A score or grade of each document, by query: `{ q1: { d1: 0.9 } }`. */
export type PlainScores = Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * The columns of a table; by default the first one that the table has, of the names that ranx, ir_measures and
 * PyTerrier use.
 */
export interface TableColumns {
  readonly query?: string;
  readonly document?: string;
  /** The score of a run, the grade of a judgement. */
  readonly score?: string;
}

const QUERY = ['q_id', 'query_id', 'qid', 'query'];
const DOCUMENT = ['doc_id', 'docno', 'docid', 'document'];
const SCORE = ['score'];
const GRADE = ['relevance', 'label', 'grade', 'rel', 'score'];

/** What a table holds, for its errors. */
interface Kind {
  readonly value: 'score' | 'grade';
  readonly names: readonly string[];
  assert(value: number, where: string): void;
}

const RUN: Kind = { value: 'score', names: SCORE, assert: () => {} };
const QRELS: Kind = {
  value: 'grade',
  names: GRADE,
  assert(grade, where) {
    if (!Number.isInteger(grade))
      throw new ValidationError(`grade of ${where} is not whole: ${grade}; use whole grades`, { grade });
  },
};

function show(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : (JSON.stringify(value) ?? String(value));
}

function parseValue({ value: what, assert }: Kind, value: unknown, where: string): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number))
    throw new ValidationError(`${what} of ${where} is not a finite number: ${show(value)}; pass a number`, { where });
  assert(number, where);
  return number;
}

/** An id as text: tables often have numbers as ids. */
function parseId(what: string, id: unknown, row: number): string {
  if (typeof id === 'string' && id !== '') return id;
  if (typeof id === 'bigint' || Number.isInteger(id)) return String(id);
  throw new ValidationError(`${what} id of row ${row} is not a text or a whole number: ${show(id)}; pass an id`, {
    row,
  });
}

function findColumn(what: string, chosen: string | undefined, names: readonly string[], row: TableRow): string {
  const known = Object.keys(row);
  if (chosen !== undefined && !known.includes(chosen))
    throw new ValidationError(`table has no column: ${chosen}; use ${suggestKnown(chosen, known)}`, { known });
  const found = chosen ?? names.find((name) => known.includes(name));
  if (found === undefined)
    throw new ValidationError(
      `table has no column for the ${what}, such as ${names.join(', ')}: ${known.join(', ')}; name it in columns.${what === 'grade' ? 'score' : what}`,
      { known },
    );
  return found;
}

type ScoreTable = Map<string, Map<string, number>>;

function collectRows(kind: Kind, rows: readonly TableRow[], columns: TableColumns): ScoreTable {
  const table: ScoreTable = new Map();
  const [first] = rows;
  if (first === undefined) return table;
  const query = findColumn('query', columns.query, QUERY, first);
  const document = findColumn('document', columns.document, DOCUMENT, first);
  const score = findColumn(kind.value, columns.score, kind.names, first);
  for (const [r, row] of rows.entries()) {
    const queryId = parseId('query', row[query], r);
    const id = parseId('document', row[document], r);
    const scores = getOrCompute(table, queryId, () => new Map<string, number>());
    if (scores.has(id))
      throw new ValidationError(`row ${r} repeats document ${id} of query ${queryId}; list it once`, {
        row: r,
        queryId,
        id,
      });
    scores.set(id, parseValue(kind, row[score], `query ${queryId}, document ${id}`));
  }
  return table;
}

function isEntries(value: unknown): value is Record<string, unknown> | ReadonlyMap<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listEntries(value: Record<string, unknown> | ReadonlyMap<string, unknown>): [string, unknown][] {
  return value instanceof Map ? [...value] : Object.entries(value);
}

function collectObject(kind: Kind, source: unknown): ScoreTable {
  if (!isEntries(source))
    throw new ValidationError(
      `${kind.value}s are neither an object nor a table: ${show(source)}; pass { query: { document: ${kind.value} } } or rows`,
    );
  return new Map(
    listEntries(source).map(([queryId, scores]) => {
      if (!isEntries(scores))
        throw new ValidationError(
          `query ${queryId} has no object of ${kind.value}s: ${show(scores)}; pass { document: ${kind.value} }`,
          { queryId },
        );
      const entries = listEntries(scores).map(
        ([id, value]) => [id, parseValue(kind, value, `query ${queryId}, document ${id}`)] as const,
      );
      return [queryId, new Map(entries)] as const;
    }),
  );
}

function collectScores(kind: Kind, source: unknown, columns: TableColumns): ScoreTable {
  const rows = source instanceof Map ? undefined : listTableRows(source);
  return rows === undefined ? collectObject(kind, source) : collectRows(kind, rows, columns);
}

/**
 * A run from a plain object, `{ q1: { d1: 0.9 } }`, a Map of such, or a table with a row for each document, see
 * {@link Table}.
 *
 * @throws ValidationError naming query and document or row: for a score that is no finite number, a missing column or
 *   id, and a repeated document.
 */
export function createRun(
  source: PlainScores | ReadonlyMap<string, ReadonlyMap<string, number>> | Table,
  columns: TableColumns = {},
): Run {
  const rank = (scores: ReadonlyMap<string, number>): readonly Scored[] =>
    Array.from(scores, ([id, score]) => ({ id, score })).sort(compareScored);
  const ranked = Array.from(
    collectScores(RUN, source, columns),
    ([queryId, scores]) => [queryId, rank(scores)] as const,
  );
  return displayRun(new Map(ranked));
}

/**
 * Judgements from a plain object, `{ q1: { d1: 2 } }`, a Map of such, or a table with a row for each judgement, see
 * {@link Table}.
 *
 * @throws ValidationError as {@link createRun} does, and for a grade that is not whole.
 */
export function createQrels(
  source: PlainScores | ReadonlyMap<string, ReadonlyMap<string, number>> | Table,
  columns: TableColumns = {},
): Qrels {
  return collectScores(QRELS, source, columns);
}

/** A run as rows for a data frame, best first. A query without documents has none. */
export function listRunRows(run: Run): { query_id: string; doc_id: string; score: number; rank: number }[] {
  return Array.from(run, ([queryId, ranking]) =>
    ranking.map(({ id, score }, i) => ({ query_id: queryId, doc_id: id, score, rank: i + 1 })),
  ).flat();
}
