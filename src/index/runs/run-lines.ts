import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { type ReadBytes, readFileBytes } from '../../core/files/files.ts';
import { ColumnReader, listLines, peekBrace } from '../../core/files/text-lines.ts';
import { parse } from '../../core/validation/validation.ts';

/** A document that a system ranked for a query, as a line of its file states it. Nothing is checked but the columns. */
export interface RunLine {
  /** `file:number`, for messages. */
  readonly at: string;
  readonly queryId: string;
  readonly id: string;
  /** As written; null in a format without ranks. */
  readonly rank: number | null;
  /** As written, NaN included. */
  readonly score: number;
  /** The run tag; empty in a format without tags. */
  readonly tag: string;
}

/** Takes a line of a run. */
export type VisitLine = (line: RunLine) => void;

/** The tokens of a number that has no value, as Python, C and R write them. */
const NOT_A_NUMBER = /^[+-]?(nan|inf|infinity|na|none|null)$/i;

function parseScore(at: string, text: string): number {
  if (NOT_A_NUMBER.test(text)) return Number.NaN;
  const value = Number(text);
  if (text === '' || Number.isNaN(value))
    throw new ValidationError(`score at ${at} is not a number: ${JSON.stringify(text)}; correct the line`, { at });
  return value;
}

function visitTrecLines(read: ReadBytes, source: string, visit: VisitLine): void {
  let queryId = '';
  for (const lines = new ColumnReader(read, source, 6); lines.next(); ) {
    const rank = lines.getNumber(3);
    const score = lines.getNumber(4);
    if (!lines.has(0, queryId)) queryId = lines.get(0);
    visit({
      at: lines.where,
      queryId,
      id: lines.get(2),
      rank: Number.isFinite(rank) ? rank : null,
      score: Number.isFinite(score) ? score : parseScore(lines.where, lines.get(4)),
      tag: lines.get(5),
    });
  }
}

const name = z.union([z.string().min(1), z.number().int().transform(String)]);
const score = z.number().nullable();

/** One document of a query. */
const documentLine = z.looseObject({
  query: name,
  id: name,
  score,
  rank: z.number().default(Number.NaN),
  tag: z.string().default(''),
});

/** The ranking of a query, best first. */
const rankingLine = z.looseObject({
  query: name,
  ranking: z.array(z.union([name.transform((id) => ({ id })), z.looseObject({ id: name, score: score.optional() })])),
});

const JSON_SHAPES = '{"query": "q1", "id": "d7", "score": 0.5} or {"query": "q1", "ranking": ["d7", "d3"]}';

function listDocumentLines(json: unknown, at: string): RunLine[] {
  const { query, id, score: value, rank, tag } = parse(documentLine, json, at);
  return [{ at, queryId: query, id, rank: Number.isNaN(rank) ? null : rank, score: value ?? Number.NaN, tag }];
}

function listRankingLines(json: unknown, at: string): RunLine[] {
  const { query, ranking } = parse(rankingLine, json, at);
  const scored = ranking.filter((entry) => 'score' in entry).length;
  if (scored > 0 && scored < ranking.length)
    throw new ValidationError(
      `${scored} of ${ranking.length} documents of the ranking at ${at} have a score; give every document a score, or none`,
      { at },
    );
  return ranking.map((entry, i) => {
    const value = 'score' in entry ? (entry.score ?? Number.NaN) : -(i + 1);
    return { at, queryId: query, id: entry.id, rank: i + 1, score: value, tag: '' };
  });
}

function listJsonLines(line: string, at: string): RunLine[] {
  try {
    const json: unknown = JSON.parse(line);
    const isRanking = json !== null && typeof json === 'object' && 'ranking' in json;
    return isRanking ? listRankingLines(json, at) : listDocumentLines(json, at);
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    throw new ValidationError(`no line of a run at ${at}; write ${JSON_SHAPES}`, { at }, { cause: error });
  }
}

function visitJsonLines(read: ReadBytes, source: string, visit: VisitLine): void {
  for (const { where, text: line } of listLines(read, { source }))
    if (line.trim() !== '') for (const document of listJsonLines(line, where)) visit(document);
}

/**
 * Visits the lines of a run, TREC or JSONL, in their order. A JSONL line is a document with its score, or a whole
 * ranking, best first; a ranking without scores gets -1, -2, ... in its order. A score that is not finite is NaN, so
 * that a caller can report it.
 *
 * @param source what errors call the bytes, usually the path of a file.
 * @throws ValidationError naming the line, for a wrong number of columns, a score that is no number, or JSON of another
 *   shape; as `read` and `visit` do.
 */
export function visitRunLines(read: ReadBytes, source: string, visit: VisitLine): void {
  const { isBrace, read: readAgain } = peekBrace(read);
  (isBrace ? visitJsonLines : visitTrecLines)(readAgain, source, visit);
}

/** Visits the lines of a run file, also of gzip, see {@link visitRunLines}. @throws as it does, and StorageError. */
export function readRunLines(path: string, visit: VisitLine): void {
  readFileBytes(path, (read) => visitRunLines(read, path, visit));
}
