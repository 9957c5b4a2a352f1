import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { type ReadBytes, readFileBytes, writeAtomic } from '../../core/files/files.ts';
import { ColumnReader, createTextSource } from '../../core/files/text-lines.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { displayRun, type Qrels, type Run, type Superseded } from '../../model/run.ts';
import { compareBytes, compareScored, type Scored } from '../../model/turns/tie-rule.ts';
import { RunColumns } from './run-columns.ts';

/**
 * The text formats of trec_eval: a run is lines of `query Q0 document rank score tag`, judgements are lines of `query 0 document grade`.
 * trec_eval reads the order from the scores, never from the rank, and versions before 10 keep scores as 32-bit floats.
 */

/** @throws ValidationError for an id that a line cannot hold. */
export function assertId(what: string, id: string): void {
  if (id === '' || /\s/.test(id))
    throw new ValidationError(`${what} is empty or has white space: ${JSON.stringify(id)}; use one word`, { id });
}

/** The next 32-bit float below a value. */
function findFloat32Below(value: number): number {
  const float = Float32Array.of(value);
  const bits = new Int32Array(float.buffer);
  if (float[0] === 0) bits[0] = 0x80000001;
  else bits[0] = (bits[0] as number) + ((float[0] as number) > 0 ? -1 : 1);
  return float[0] as number;
}

/** True if `next` is below `last` for a reader in 32 and in 64 bits. */
function keepsOrder(last: Scored, next: Scored): boolean {
  const lost = Math.fround(next.score) - Math.fround(last.score);
  return lost < 0 || (lost === 0 && next.score <= last.score && compareBytes(next.id, last.id) < 0);
}

/**
 * Scores that give the same ranking to every reader: unchanged, except that one which 32 bits would put at or above its predecessor moves to the next
 * 32-bit float below it.
 */
function orderSafe(queryId: string, ranking: readonly Scored[]): Scored[] {
  const safe: Scored[] = [];
  for (const { id, score } of [...ranking].sort(compareScored)) {
    const last = safe.at(-1);
    const kept = last === undefined || keepsOrder(last, { id, score }) ? score : findFloat32Below(last.score);
    if (!Number.isFinite(Math.fround(kept)))
      throw new NotFiniteError('32-bit score', `query ${queryId}, document ${id}`, kept);
    safe.push({ id, score: kept });
  }
  return safe;
}

/**
 * A run as text, best first. A query without documents leaves no line, so reading back does not know it.
 *
 * @param tag the name of the system, in the last column.
 * @throws ValidationError for an id with white space, NotFiniteError for a score beyond 32-bit floats.
 */
export function formatRun(run: Run, tag: string): string {
  assertId('tag', tag);
  const lines: string[] = [];
  for (const [queryId, ranking] of run) {
    assertId('query id', queryId);
    for (const [lineIndex, { id, score }] of orderSafe(queryId, ranking).entries()) {
      assertId('document id', id);
      lines.push(`${queryId} Q0 ${id} ${lineIndex + 1} ${score} ${tag}\n`);
    }
  }
  return lines.join('');
}

/** @throws ValidationError for an id with white space or a grade that is not whole. */
export function formatQrels(qrels: Qrels): string {
  return Array.from(qrels, ([queryId, judgements]) => formatJudgements(queryId, judgements)).join('');
}

/** As {@link formatQrels}, in UTF-8: all judgements together may be longer than a string can be. */
export function encodeQrels(qrels: Qrels): Uint8Array {
  return Buffer.concat(
    Array.from(qrels, ([queryId, judgements]) => Buffer.from(formatJudgements(queryId, judgements))),
  );
}

function formatJudgements(queryId: string, judgements: ReadonlyMap<string, number>): string {
  const lines: string[] = [];
  assertId('query id', queryId);
  for (const [id, grade] of judgements) {
    assertId('document id', id);
    if (!Number.isInteger(grade))
      throw new ValidationError(
        `grade of document ${id} for query ${queryId} is not whole: ${grade}; use whole grades`,
        {
          queryId,
          id,
        },
      );
    lines.push(`${queryId} 0 ${id} ${grade}\n`);
  }
  return lines.join('');
}

/** The name of a file of superseded documents: beside judgements of a dataset, and in the folder of a run. */
export const SUPERSEDED_FILE = 'superseded.tsv';

/**
 * Superseded documents as text: lines of `query document replacement`, with tabs between them. The document states
 * something that no longer holds at the moment of the query, and the replacement states what holds.
 *
 * @throws ValidationError for an id with white space.
 */
export function formatSuperseded(superseded: Superseded): string {
  const lines: string[] = [];
  for (const [queryId, documents] of superseded)
    for (const [id, replacement] of documents) {
      assertId('query id', queryId);
      assertId('document id', id);
      assertId('id of a replacement', replacement);
      lines.push(`${queryId}\t${id}\t${replacement}\n`);
    }
  return lines.join('');
}

function parseNumber(what: string, lines: ColumnReader, column: number): number {
  const value = lines.getNumber(column);
  if (Number.isFinite(value)) return value;
  const at = lines.where;
  throw new ValidationError(`${what} at ${at} is not a number: ${lines.get(column)}; correct the line`, { at });
}

function createRepeatError(lines: ColumnReader): ValidationError {
  const [queryId, id, at] = [lines.get(0), lines.get(2), lines.where];
  const message = `query ${queryId} repeats a document at ${at}: ${id}; remove the line`;
  return new ValidationError(message, { at, queryId, id });
}

function collectRun(read: ReadBytes, source: string): Run {
  const run = new RunColumns();
  let queryId: string | null = null;
  let score = 0;
  const add = (bytes: Uint8Array, start: number, end: number) => run.add(bytes, start, end, score);
  for (const lines = new ColumnReader(read, source, 6); lines.next(); ) {
    if (queryId === null || !lines.has(0, queryId)) {
      queryId = lines.get(0);
      run.begin(queryId);
    }
    score = parseNumber('score', lines, 4);
    if (!lines.useBytes(2, add)) throw createRepeatError(lines);
  }
  return displayRun(run.finish());
}

function collectQrels(read: ReadBytes, source: string): Qrels {
  const table = new Map<string, Map<string, number>>();
  let [queryId, row] = ['', null as Map<string, number> | null];
  for (const lines = new ColumnReader(read, source, 4); lines.next(); ) {
    if (row === null || !lines.has(0, queryId)) {
      queryId = lines.get(0);
      row = getOrCompute(table, queryId, () => new Map<string, number>());
    }
    const id = lines.get(2);
    const grade = parseNumber('grade', lines, 3);
    if (row.has(id)) throw createRepeatError(lines);
    row.set(id, grade);
  }
  return table;
}

/**
 * The run makes a ranking each time it is asked for one, see {@link RunColumns}.
 *
 * @param source what errors call the text, usually its path.
 * @throws ValidationError naming the first line with a wrong number of columns, a score that is no number or a repeated
 *   document.
 */
export function parseRun(text: string, source: string): Run {
  return collectRun(createTextSource(text), source);
}

/** @throws ValidationError as {@link parseRun} does. */
export function parseQrels(text: string, source: string): Qrels {
  return collectQrels(createTextSource(text), source);
}

/**
 * Writes a run as a TREC run file, see {@link formatRun}. An existing file is replaced in one step. @param tag the name of the system. @throws as {@link
 * formatRun}.
 */
export function writeRun(path: string, run: Run, tag: string): void {
  writeAtomic(path, formatRun(run, tag));
}

/**
 * Reads a TREC run file, also of gzip, a block at a time; see {@link parseRun}.
 *
 * @throws ValidationError as {@link parseRun} does, StorageError for a file that cannot be read or unpacked.
 */
export function readRun(path: string): Run {
  return readFileBytes(path, (read) => collectRun(read, path));
}

/**
 * Writes judgements as a TREC qrels file, see {@link formatQrels}. An existing file is replaced in one step. @throws ValidationError as {@link
 * formatQrels} does.
 */
export function writeQrels(path: string, qrels: Qrels): void {
  writeAtomic(path, encodeQrels(qrels));
}

/** Reads a TREC qrels file, also of gzip, see {@link parseQrels}. @throws as {@link readRun} does. */
export function readQrels(path: string): Qrels {
  return readFileBytes(path, (read) => collectQrels(read, path));
}

function collectSuperseded(read: ReadBytes, source: string): Superseded {
  const table = new Map<string, Map<string, string>>();
  for (const lines = new ColumnReader(read, source, 3); lines.next(); ) {
    const [queryId, id, replacement, at] = [lines.get(0), lines.get(1), lines.get(2), lines.where];
    const documents = getOrCompute(table, queryId, () => new Map<string, string>());
    const facts = { at, queryId, id };
    if (id === replacement)
      throw new ValidationError(`document replaces itself at ${at}: ${id}; name the one that states what holds`, facts);
    if (documents.has(id))
      throw new ValidationError(`query ${queryId} repeats a document at ${at}: ${id}; remove the line`, facts);
    documents.set(id, replacement);
  }
  return table;
}

/**
 * Reads what {@link formatSuperseded} writes; spaces are accepted in place of tabs.
 *
 * @param source what errors call the text, usually its path.
 * @throws ValidationError naming the line, for a wrong number of columns, a repeated document, and one that replaces
 *   itself.
 */
export function parseSuperseded(text: string, source: string): Superseded {
  return collectSuperseded(createTextSource(text), source);
}

/** Reads a file of superseded documents, see {@link parseSuperseded}. @throws as it and {@link readRun} do. */
export function readSuperseded(path: string): Superseded {
  return readFileBytes(path, (read) => collectSuperseded(read, path));
}
