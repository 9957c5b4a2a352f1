import { join } from 'node:path';
import { z } from 'zod';
import { type ConfigurationFault, countErrors, ValidationError } from '../../core/errors/errors.ts';
import { readLines, type TextLine } from '../../core/files/text-lines.ts';
import { finishSteps, type Steps } from '../../core/terminal/progress.ts';
import { isTime, parseOrNull } from '../../core/validation/validation.ts';
import { attributesSchema, buildMemoryText, checkRow, readMemoryFields } from '../../model/turns/memory-fields.ts';
import { Counts } from '../prepared/prepared.ts';

const ONE_WORD = /^\S+$/;
/**
 * Half a surrogate pair has no UTF-8, and bytes that are no UTF-8 are read as U+FFFD: in a file, two such ids would be
 * one.
 */
const WELL_FORMED = /^[^\p{Cs}\ufffd]*$/u;

/** An id that a run file can hold, and that is the same when it is read back. */
export function isId(text: string): boolean {
  return ONE_WORD.test(text) && WELL_FORMED.test(text);
}

export const id = z.string().regex(ONE_WORD, 'an id without spaces').regex(WELL_FORMED, 'an id of well-formed Unicode');

/**
 * Deeper than any row of a dataset. What walks a value calls itself for each level, so that a deeper one could overflow
 * the stack.
 */
export const DEEPEST = 256;

/** The depth of the arrays and objects of a JSON text; of another text, some number. */
export function measureJsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character === '\\') i++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}

/** The error of the depth of a JSON text, null if it is allowed. */
export function describeDepthFault(text: string): string | null {
  const depth = measureJsonDepth(text);
  return depth > DEEPEST ? `nested ${depth} deep, where at most ${DEEPEST} is read` : null;
}

/** The treatment of an invalid row. */
export type OnDirtyRow = 'error' | 'skip';

/** A row that can't be used. */
interface RowFault {
  /** For example `turns.jsonl:17`. */
  readonly where: string;
  /** The kind, by which skipped rows are counted, for example `duplicate id`. */
  readonly kind: string;
  /** The value found, or the expected value and the value found. */
  readonly detail: string;
}

const SHOWN = 20;

/** Collects the faults of a dataset, for one error or for the counts. */
export class RowFaults {
  readonly #faults: RowFault[] = [];

  add(where: string, kind: string, detail: string): void {
    this.#faults.push({ where, kind, detail });
  }

  get list(): readonly RowFault[] {
    return this.#faults;
  }

  /**
   * Ends reading: with `error` any fault throws, with `skip` each kind is counted.
   *
   * @param remedy what to do besides correcting.
   */
  settle(source: string, onDirtyRow: OnDirtyRow, remedy = 'set onDirtyRow: skip'): Counts {
    if (onDirtyRow === 'error' && this.#faults.length > 0) throw this.#createRowError(source, remedy);
    const counts = new Counts();
    for (const { where, kind } of this.#faults) counts.add(`skipped in ${where.split(':')[0]}: ${kind}`);
    return counts;
  }

  #createRowError(source: string, remedy: string): ValidationError {
    const lines = this.#faults.slice(0, SHOWN).map(({ where, kind, detail }) => `  ${where}: ${kind}: ${detail}`);
    const rest = this.#faults.length - lines.length;
    if (rest > 0) lines.push(`  and ${rest} more`);
    const heading = `${countErrors(this.#faults.length)} in ${source}; correct and run again, or ${remedy}`;
    return new ValidationError(`${heading}:\n${lines.join('\n')}`, { source, faults: this.#faults });
  }
}

const text = z.string().refine((value) => value.trim() !== '', 'a text that is not empty');
const isoTime = z.iso.datetime({ offset: true });
/** ISO 8601 with a zone, or milliseconds since 1970; one message for both, where a union would give one for each. */
export const time = z.unknown().transform((value, context): number => {
  if (isTime(value)) return value;
  if (value instanceof Date && Number.isFinite(value.getTime())) return value.getTime(); // of rows in memory
  if (parseOrNull(isoTime, value) !== null) return Date.parse(value as string);
  context.addIssue({ code: 'custom', message: 'a time in ISO 8601 with a zone, or in milliseconds since 1970' });
  return z.NEVER;
});

export const turnRow = z.strictObject({
  id,
  conversationId: id,
  parentId: id.nullable(),
  timestamp: time,
  author: z.string().nullable().default(null),
  channel: z.string().nullable().default(null),
  text,
  attributes: attributesSchema.exactOptional(),
});

export const queryRow = z.strictObject({
  id,
  text,
  timestamp: time,
  split: z.enum(['dev', 'test']).optional(),
  anchorTurnId: id.nullable().default(null),
  /** The conversation of the query, if it belongs to one. */
  conversationId: id.optional(),
  /** The unit of resampling; by default the conversation. */
  cluster: id.optional(),
  /** The kind of query; reports group results by it. */
  kind: text.optional(),
  /** The person or model that wrote the query. Read by `ragpp judge`; no dataset reads it. */
  generator: text.optional(),
  /** The turns that the query was written from. Read by `ragpp judge`; no dataset reads it. */
  sources: z.array(id).min(1).optional(),
  author: z.string().nullable().default(null),
  channel: z.string().nullable().default(null),
  /** For filters, as `$query.` names. */
  attributes: attributesSchema.exactOptional(),
});

export type TurnRow = z.output<typeof turnRow>;
export type QueryRow = z.output<typeof queryRow>;

/** A row and its place in the file. */
export interface Located<T> {
  readonly where: string;
  readonly row: T;
}

/** A memory whose text is made of its fields may leave the text out. */
function completeText(row: unknown): unknown {
  const { text: written, attributes } = (row ?? {}) as { readonly text?: unknown; readonly attributes?: unknown };
  if (written !== undefined) return row;
  const read = parseOrNull(attributesSchema, attributes);
  if (read === null) return row;
  const made = buildMemoryText(readMemoryFields({ attributes: read }));
  return made === null ? row : { ...(row as object), text: made };
}

/** A row by its schema. The text of a turn may be missing where its fields make one. */
function checkCompleted<S extends z.ZodType>(schema: S, row: unknown): ReturnType<typeof checkRow<S>> {
  return checkRow(schema, (schema as z.ZodType) === turnRow ? completeText(row) : row);
}

/** The rows of a JSON Lines file that fit the schema; empty lines don't count. */
export function readRows<S extends z.ZodType>(
  folder: string,
  file: string,
  schema: S,
  faults: RowFaults,
): Located<z.output<S>>[] {
  return finishSteps(readRowsInSteps(folder, file, schema, faults));
}

/** {@link readRows}, a step a row. @param onRead receives the number of bytes that were read so far. */
export function* readRowsInSteps<S extends z.ZodType>(
  folder: string,
  file: string,
  schema: S,
  faults: RowFaults,
  onRead?: (bytes: number) => void,
): Steps<Located<z.output<S>>[]> {
  const located: Located<z.output<S>>[] = [];
  for (const { where, text: line } of readFilledLines(folder, file, onRead)) {
    yield;
    const tooDeep = describeDepthFault(line);
    if (tooDeep !== null) {
      faults.add(where, 'malformed row', tooDeep);
      continue;
    }
    const row = parseJson(line);
    if (row === undefined) {
      faults.add(where, 'not JSON', describeUnread(line));
      continue;
    }
    const result = checkCompleted(schema, row);
    if ('value' in result) located.push({ where, row: result.value });
    else faults.add(where, 'malformed row', describeFaults(result.faults));
  }
  return located;
}

/** The rows of a list that fit the schema. @param name of the list, for messages. */
export function checkRows<S extends z.ZodType>(
  rows: readonly unknown[],
  name: string,
  schema: S,
  faults: RowFaults,
): Located<z.output<S>>[] {
  return rows.flatMap((row, i) => {
    const where = `${name}[${i}]`;
    const result = checkCompleted(schema, row);
    if ('value' in result) return [{ where, row: result.value }];
    faults.add(where, 'malformed row', describeFaults(result.faults));
    return [];
  });
}

/** The rows by id; a second row of the same id is an error. */
export function selectUniqueRows<T extends { readonly id: string }>(
  located: readonly Located<T>[],
  faults: RowFaults,
): Map<string, Located<T>> {
  const rows = new Map<string, Located<T>>();
  for (const entry of located) {
    if (rows.has(entry.row.id)) faults.add(entry.where, 'duplicate id', entry.row.id);
    else rows.set(entry.row.id, entry);
  }
  return rows;
}

/** A line of a TREC judgement file. */
export interface QrelRow {
  readonly queryId: string;
  readonly turnId: string;
  readonly grade: number;
}

/** The lines `query 0 turn grade` of a TREC judgement file. */
export function readQrels(folder: string, file: string, faults: RowFaults): Located<QrelRow>[] {
  return finishSteps(readQrelsInSteps(folder, file, faults));
}

/** {@link readQrels}, a step a row. @param onRead receives the number of bytes that were read so far. */
export function* readQrelsInSteps(
  folder: string,
  file: string,
  faults: RowFaults,
  onRead?: (bytes: number) => void,
): Steps<Located<QrelRow>[]> {
  const parseRow = ([queryId, , turnId, grade, ...more]: readonly string[]): QrelRow | null =>
    queryId === undefined || turnId === undefined || !/^-?\d+$/.test(grade ?? '') || more.length > 0
      ? null
      : { queryId, turnId, grade: Number(grade) };
  return yield* readColumnsInSteps(folder, file, 'query 0 turn grade', parseRow, faults, onRead);
}

/** A line of superseded turns: a turn whose statement no longer holds when a query is asked, and what replaces it. */
export interface SupersededRow {
  readonly queryId: string;
  readonly turnId: string;
  readonly replacementId: string;
}

/** The lines `query turn replacement` of a file of superseded turns, a step a row. */
export function* readSupersededInSteps(
  folder: string,
  file: string,
  faults: RowFaults,
  onRead?: (bytes: number) => void,
): Steps<Located<SupersededRow>[]> {
  const parseRow = ([queryId, turnId, replacementId, ...more]: readonly string[]): SupersededRow | null =>
    queryId === undefined || turnId === undefined || replacementId === undefined || more.length > 0
      ? null
      : { queryId, turnId, replacementId };
  return yield* readColumnsInSteps(folder, file, 'query turn replacement', parseRow, faults, onRead);
}

/**
 * The rows of a file of columns, a step a row.
 *
 * @param parseRow returns null for columns other than the expected ones.
 */
function* readColumnsInSteps<T>(
  folder: string,
  file: string,
  expected: string,
  parseRow: (fields: readonly string[]) => T | null,
  faults: RowFaults,
  onRead?: (bytes: number) => void,
): Steps<Located<T>[]> {
  const located: Located<T>[] = [];
  for (const { where, text: line } of readFilledLines(folder, file, onRead)) {
    yield;
    const row = parseRow(line.trim().split(/\s+/));
    if (row === null) faults.add(where, 'malformed row', `expected ${expected}, got ${describeColumns(line)}`);
    else located.push({ where, row });
  }
  return located;
}

function* readFilledLines(folder: string, file: string, onRead?: (bytes: number) => void): Generator<TextLine> {
  const lines = readLines(join(folder, file), { source: file, ...(onRead === undefined ? {} : { onRead }) });
  for (const line of lines) if (line.text.trim() !== '') yield line;
}

/** The faults of a row as one line. */
export function describeFaults(faults: readonly ConfigurationFault[]): string {
  const describe = ({ path, expected, got, nearest }: ConfigurationFault) =>
    `${path}: expected ${expected}, got ${got}${nearest === undefined ? '' : ` (did you mean ${nearest}?)`}`;
  return faults.map(describe).join('; ');
}

/** The value of a line; undefined for a line that is not JSON. */
export function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A text that cannot be read, for messages. It may be cut off before its mark as sensitive, so it is not quoted. */
export function describeUnread(text: string): string {
  return `a text of length ${text.length}`;
}

/** A line of ids for messages: it has no text, unless it is of another file. */
const describeColumns = (line: string) => (line.includes('{') ? describeUnread(line) : shorten(line));

/** A line, cut to a length that fits a message. */
export function shorten(line: string): string {
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
