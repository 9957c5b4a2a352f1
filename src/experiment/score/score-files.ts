import { basename } from 'node:path';
import { z } from 'zod';
import { parseRunLines, type RunLine } from '../../candidates/run-lines.ts';
import { ValidationError } from '../../core/errors.ts';
import { readText } from '../../core/files.ts';
import { parseQrels } from '../../evaluation/trec-files.ts';
import type { Qrels } from '../../model/run.ts';
import { buildSystem, type System } from './system.ts';

/** A file and, before `=`, the name that its system gets. */
interface NamedFile {
  readonly name: string | null;
  readonly path: string;
}

/** `name=path`, or a path alone. */
function parseNamedFile(typed: string): NamedFile {
  const [, name, path] = /^([^=/\\]+)=(.+)$/s.exec(typed) ?? [];
  return name === undefined || path === undefined ? { name: null, path: typed } : { name, path };
}

/** The name of a system: the typed one, else the only tag of its file if no other file has that tag, else the file's name. */
function nameSystem({ name, path }: NamedFile, lines: readonly RunLine[], others: readonly string[]): string {
  if (name !== null) return name;
  const tags = [...new Set(lines.map(({ tag }) => tag))];
  const [tag = ''] = tags;
  if (tags.length === 1 && tag !== '' && !others.includes(tag)) return tag;
  return basename(path).replace(/\.[^.]*$/, '') || path;
}

/**
 * Reads run files, TREC or JSONL.
 *
 * @param typed paths, or `name=path`.
 * @throws StorageError for a file that cannot be read, ValidationError naming the line that is no line of a run.
 */
export function readSystems(typed: readonly string[]): System[] {
  const files = typed
    .map(parseNamedFile)
    .map((file) => ({ file, lines: parseRunLines(readText(file.path), file.path) }));
  const tags = files.map(({ lines }) => [...new Set(lines.map(({ tag }) => tag))]);
  return files.map(({ file, lines }, i) => {
    const others = tags.filter((_, at) => at !== i).flat();
    return buildSystem(nameSystem(file, lines, others), file.path, lines);
  });
}

/** Judgements of three columns, query, document and grade, with or without the heading that BEIR writes, as those of trec_eval. */
function widenColumns(text: string): string {
  const lines = text.split('\n');
  const width = (line: string) => line.trim().split(/\s+/).length;
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first < 0 || width(lines[first] as string) !== 3) return text;
  const isHeading = Number.isNaN(Number((lines[first] as string).trim().split(/\s+/)[2]));
  return lines
    .map((line, i) => {
      if (line.trim() === '' || (i === first && isHeading)) return '';
      const fields = line.trim().split(/\s+/);
      return fields.length === 3 ? [fields[0], '0', fields[1], fields[2]].join(' ') : line;
    })
    .join('\n');
}

/**
 * Reads judgements: trec_eval's four columns, or the three of BEIR (`query-id corpus-id score`).
 *
 * @throws StorageError, ValidationError naming the line.
 */
export function readJudgements(path: string): Qrels {
  const qrels = parseQrels(widenColumns(readText(path)), path);
  if (qrels.size > 0) return qrels;
  throw new ValidationError(`file has no judgement: ${path}; name a file of lines such as "q1 0 d7 1"`, { path });
}

const clusterLine = z.looseObject({ id: z.string().optional(), query: z.string().optional(), cluster: z.string() });

function parseClusterLine(line: string, at: string): readonly [query: string, cluster: string] {
  const fields = line.trim().split(/\s+/);
  if (!line.trim().startsWith('{') && fields.length === 2) return fields as [string, string];
  try {
    const { id, query = id, cluster } = clusterLine.parse(JSON.parse(line));
    if (query !== undefined) return [query, cluster];
  } catch {
    // another shape, as the error below says
  }
  throw new ValidationError(
    `no line of clusters at ${at}; write a query and its conversation in two columns, or {"query": "q1", "cluster": "c1"}`,
    { at },
  );
}

/**
 * Reads the conversation of each query: two columns, or JSONL such as the `queries.jsonl` of a run.
 *
 * @throws StorageError, ValidationError naming the line.
 */
export function readClusters(path: string): ReadonlyMap<string, string> {
  const lines = readText(path).split('\n');
  return new Map(lines.flatMap((line, i) => (line.trim() === '' ? [] : [parseClusterLine(line, `${path}:${i + 1}`)])));
}

const documentLine = z.union([
  z.looseObject({ id: z.string() }).transform(({ id }) => id),
  z.looseObject({ _id: z.string() }).transform(({ _id }) => _id),
]);

/**
 * Reads the ids of a collection: one a line, or JSONL with `id` or `_id`, such as the `turns.jsonl` of a run or the corpus of BEIR.
 *
 * @throws StorageError, ValidationError naming the line.
 */
export function readDocuments(path: string): ReadonlySet<string> {
  const read = (line: string, at: string): string => {
    if (!line.startsWith('{')) return line;
    try {
      return documentLine.parse(JSON.parse(line));
    } catch (error) {
      throw new ValidationError(`no document at ${at}; write an id, or {"id": "d1"}`, { at }, { cause: error });
    }
  };
  const lines = readText(path).split('\n');
  return new Set(lines.flatMap((line, i) => (line.trim() === '' ? [] : [read(line.trim(), `${path}:${i + 1}`)])));
}
