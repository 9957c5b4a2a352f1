import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { readFileBytes } from '../../core/files/files.ts';
import { peekBrace } from '../../core/files/text-lines.ts';
import { id, type Located, RowFaults, readQrels, readRows } from '../../data/jsonl/jsonl-rows.ts';
import { GRADES, type Judgement, type PairToJudge } from '../../model/dataset.ts';

/** The end of a model's name that states a version by date, or the tag of a local copy. */
const VERSION = /(?:[-@:_.]?(?:\d{4}-\d{2}-\d{2}|\d{8})|:[\w.-]+|[-@:]latest)$/;

/**
 * A name of a person or model without what services add to it: `openai/GPT-4o-2024-08-06` and `gpt-4o:latest` are
 * `gpt-4o`.
 */
function simplifyName(name: string): string {
  const own = name.trim().toLowerCase().split('/').at(-1) as string;
  return own.replace(VERSION, '').replace(/\s+/g, ' ') || own;
}

/**
 * True if two names are of one person or model: case, the provider before a slash and the date or tag of a version do
 * not count.
 */
export function isSameAuthor(a: string, b: string): boolean {
  return simplifyName(a) === simplifyName(b);
}

/**
 * Keeps generator and judge apart: a model that wrote a query prefers documents that resemble its own text.
 *
 * @throws ValidationError if the judge wrote one of the queries.
 */
export function assertIndependentJudge(judge: string, generators: Iterable<string>): void {
  for (const generator of generators)
    if (isSameAuthor(judge, generator))
      throw new ValidationError(
        `judge ${judge} wrote queries that it judges (generator ${generator}); use another judge, or other queries`,
        { judge, generator },
      );
}

const name = z.string().refine((text) => text.trim() !== '', 'a name that is not empty');
const grade = z
  .number()
  .refine((value) => (GRADES as readonly number[]).includes(value), `a grade of ${GRADES.join(', ')}`)
  .nullable();

/** A line of a pool, in which a judge writes the grade. */
const poolRow = z.strictObject({
  query: id,
  queryText: z.string(),
  id,
  text: z.string(),
  stratum: name.nullable(),
  generator: name,
  sensitive: z.boolean().default(false),
  grade: grade.default(null),
  judge: name.nullable().default(null),
  /** A remark of the judge. */
  note: z.string().optional(),
});

/** A judgement alone, or a line of a pool with its grade. */
const judgementRow = poolRow.partial({ queryText: true, text: true, stratum: true, generator: true });

/** A line of a pool, with the judgement if there is one. */
export interface PoolLine extends PairToJudge {
  readonly grade: number | null;
  readonly judge: string | null;
}

/** A judgement as a file states it. */
export interface StatedJudgement extends Judgement {
  /** Null if the file does not state it. */
  readonly stratum: string | null;
  /** The person or model that wrote the query; null if the file does not state it. */
  readonly generator: string | null;
}

/** The judgements of a file, and the number of its lines without a grade. */
export interface JudgementFile {
  readonly judgements: readonly StatedJudgement[];
  readonly open: number;
}

/** A line for each pair, with the grade last: a person replaces `null` by a number from 0 to 3. */
export function formatPool(rows: readonly PoolLine[]): string {
  return rows
    .map(({ queryId, queryText, id: document, text, stratum, generator, sensitive, grade: given, judge }) => {
      const read = { query: queryId, queryText, id: document, text, stratum, generator };
      const marks = { ...(sensitive ? { sensitive } : {}), ...(judge === null ? {} : { judge }) };
      return `${JSON.stringify({ ...read, ...marks, grade: given })}\n`;
    })
    .join('');
}

/** Judgements as JSONL, with the judge of each. */
export function formatJudgements(judgements: readonly Judgement[]): string {
  return judgements
    .map(
      ({ queryId, id: document, grade: given, judge }) =>
        `${JSON.stringify({ query: queryId, id: document, grade: given, judge })}\n`,
    )
    .join('');
}

/** Adds a fault for each row that repeats a pair. */
function assertOnce(
  rows: readonly Located<{ readonly query: string; readonly id: string; readonly judge: string | null }>[],
  faults: RowFaults,
): void {
  const seen = new Set<string>();
  for (const { where, row } of rows) {
    const key = JSON.stringify([row.query, row.id, row.judge]);
    if (seen.has(key)) faults.add(where, 'judged twice', `${row.query} ${row.id}`);
    seen.add(key);
  }
}

/**
 * Reads a pool, as {@link formatPool} writes it, with or without grades.
 *
 * @throws ValidationError naming every invalid row and every repeated pair, and for a file without a row; StorageError
 *   for a file that cannot be read.
 */
export function readPool(path: string): PoolLine[] {
  const faults = new RowFaults();
  const rows = readRows(dirname(path), basename(path), poolRow, faults);
  assertOnce(
    rows.map(({ where, row }) => ({ where, row: { ...row, judge: null } })),
    faults,
  );
  faults.settle(path, 'error', 'write the pool again with ragpp judge pool');
  if (rows.length === 0)
    throw new ValidationError(`pool has no row: ${path}; write it with ragpp judge pool`, { path });
  return rows.map(({ row: { query, note: _, ...row } }) => ({ queryId: query, ...row }));
}

/** The rows of a TREC file; its four columns state no judge. */
function readTrecRows(path: string, judge: string | null, faults: RowFaults) {
  return readQrels(dirname(path), basename(path), faults).flatMap(
    ({ where, row: { queryId, turnId, grade: given } }) => {
      const isGrade = (GRADES as readonly number[]).includes(given);
      if (!isGrade) faults.add(where, 'malformed row', `expected a grade of ${GRADES.join(', ')}, got ${given}`);
      const row = { query: queryId, id: turnId, grade: given, judge, stratum: null, generator: null };
      return isGrade ? [{ where, row }] : [];
    },
  );
}

function readJsonRows(path: string, judge: string | null, faults: RowFaults) {
  return readRows(dirname(path), basename(path), judgementRow, faults).map(({ where, row }) => {
    if (judge !== null && row.judge !== null && row.judge !== judge)
      faults.add(where, 'another judge', `expected ${judge}, got ${row.judge}`);
    const { query, id: document, grade: given, stratum = null, generator = null } = row;
    return { where, row: { query, id: document, grade: given, judge: row.judge ?? judge, stratum, generator } };
  });
}

/**
 * Reads judgements, also of gzip: JSONL (a filled-in pool, or rows of `query`, `id`, `grade` and `judge`), or TREC
 * qrels.
 *
 * @param judge the judge of rows that state none; null if every row must state its judge.
 * @throws ValidationError naming every invalid row: a grade beyond 0 to 3, no judge, another judge than the given one,
 *   a pair that a judge repeats.
 * @throws StorageError for a file that cannot be read.
 */
export function readJudgementFile(path: string, judge: string | null): JudgementFile {
  const faults = new RowFaults();
  const isJson = readFileBytes(path, (read) => peekBrace(read).isBrace);
  const rows = (isJson ? readJsonRows : readTrecRows)(path, judge, faults);
  assertOnce(rows, faults);
  const judgements = rows.flatMap(
    ({ where, row: { query, id: document, grade: given, judge: by, stratum, generator } }) => {
      if (given === null) return [];
      if (by === null) faults.add(where, 'no judge', `name the judge, as in NAME=${path}`);
      return [{ queryId: query, id: document, grade: given, judge: by ?? '', stratum, generator }];
    },
  );
  faults.settle(path, 'error', 'remove the rows');
  return { judgements, open: rows.length - judgements.length };
}
