import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { readFolder, readText } from '../../core/files/files.ts';
import { readLines } from '../../core/files/text-lines.ts';
import { parse } from '../../core/validation/validation.ts';
import { readTrecOrBeirQrels } from '../../eval/trec/trec-files.ts';
import { type ForeignRun, readMemorybenchFile, readMtebPredictions } from '../../index/runs/memorybench-results.ts';
import { type RunLine, readRunLines } from '../../index/runs/run-lines.ts';
import type { Qrels } from '../../model/run.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { buildSystem, type CollectedLines, collectLines, type System } from '../measure/system.ts';
import { describeWarning } from '../measure/warning.ts';
import { isStoredRun, listArmRunFiles } from './stored-run.ts';

/** A file and, before `=`, the name that its system gets, or the judge of its judgements. */
export interface NamedFile {
  readonly name: string | null;
  readonly path: string;
}

/** `name=path`, or a path alone. */
export function parseNamedFile(typed: string): NamedFile {
  const [, name, path] = /^([^=/\\]+)=(.+)$/s.exec(typed) ?? [];
  return name === undefined || path === undefined ? { name: null, path: typed } : { name, path };
}

/** A JSON file as one value; null for another file, such as JSONL. */
function parseWhole(path: string): unknown {
  if (!path.endsWith('.json')) return null;
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch {
    return null; // one value a line, or no JSON: an error of its lines
  }
}

/** The file before `#`, and the part of it that is meant. */
function splitFragment(path: string): readonly [file: string, fragment: string | null] {
  const at = path.lastIndexOf('#');
  return at < 0 || existsSync(path) ? [path, null] : [path.slice(0, at), path.slice(at + 1)];
}

/** The lines of a file, and what it states besides. */
interface SystemFile extends Omit<ForeignRun, 'lines'> {
  readonly lines: CollectedLines;
}

const collectForeign = ({ lines, ...rest }: ForeignRun): SystemFile => ({
  lines: collectLines((visit) => lines.forEach(visit)),
  ...rest,
});

function readSystemFile(path: string): SystemFile {
  const [file, fragment] = splitFragment(path);
  const json = parseWhole(file);
  const foreign = readMtebPredictions(json, fragment, file) ?? readMemorybenchFile(json, file);
  if (foreign !== null) return collectForeign(foreign);
  const isPipe = statSync(file, { throwIfNoEntry: false })?.isFile() === false;
  if (!isPipe) return { lines: collectLines((visit) => readRunLines(file, visit)), system: '' };
  const lines: RunLine[] = []; // of what can be read once
  readRunLines(file, (line) => lines.push(line));
  return collectForeign({ lines, system: '' });
}

/** The results of memorybench in a folder, a file a question. @throws ValidationError for a file that is none. */
function readForeignFolder(path: string): ForeignRun {
  const files = readFolder(path)
    .filter((name) => name.endsWith('.json'))
    .sort();
  const parts = files.map((name) => {
    const file = join(path, name);
    const foreign = readMemorybenchFile(parseWhole(file), file);
    if (foreign === null)
      throw new ValidationError(`no result of memorybench: ${file}; name its folder of results, or its report.json`, {
        file,
      });
    return foreign;
  });
  if (parts.length === 0)
    throw new ValidationError(`folder has no .json file: ${path}; name a run file, or the results of memorybench`, {
      path,
    });
  const system = parts.find((part) => part.system !== '')?.system ?? '';
  return { lines: parts.flatMap(({ lines }) => lines), system };
}

function readSystem(path: string): SystemFile {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? collectForeign(readForeignFolder(path)) : readSystemFile(path);
}

/** The name of a system: the typed one, else that of its file if no other file has it, else the file's own. */
function nameSystem({ name, path }: NamedFile, { lines, system }: SystemFile, others: readonly string[]): string {
  if (name !== null) return name;
  const tags = system === '' ? lines.tags : [system];
  const [tag = ''] = tags;
  if (tags.length === 1 && tag !== '' && !others.includes(tag)) return tag;
  return basename(path).replace(/\.[^.]*$/, '') || path;
}

function warnOfHitRates(name: string, { hitRates = 0 }: SystemFile): ProtocolWarning[] {
  if (hitRates === 0) return [];
  const text = `the file reports recallAtK equal to hitAtK for each of ${hitRates} questions, a hit rate; use the recall of this table`;
  return [describeWarning('reported-recall-is-hit-rate', name, text)];
}

/** The run files of the arms, for the folder of a stored run; else the file itself. */
function listArmFiles(file: NamedFile): NamedFile[] {
  if (!isStoredRun(file.path)) return [file];
  return listArmRunFiles(file.path).map(({ arm, path }) => ({
    name: file.name === null ? arm : `${file.name} ${arm}`,
    path,
  }));
}

/**
 * Reads run files: TREC, JSONL, both also of gzip, predictions of mteb, as LMEB writes them (`file.json#subset` chooses
 * one), and results of memorybench, a report or a folder. The folder of a stored run is a system for each of its arms.
 *
 * @param typed paths, or `name=path`.
 * @throws StorageError for a file that cannot be read, ValidationError naming the line that is no line of a run.
 */
export function readSystems(typed: readonly string[]): System[] {
  const files = typed
    .map(parseNamedFile)
    .flatMap(listArmFiles)
    .map((file) => ({ file, run: readSystem(file.path) }));
  return files.map(({ file, run }, i) => {
    const others = files.filter((_, at) => at !== i).flatMap((other) => other.run.lines.tags);
    const name = nameSystem(file, run, others);
    const system = buildSystem(name, file.path, run.lines);
    return { ...system, warnings: [...system.warnings, ...warnOfHitRates(name, run)] };
  });
}

/**
 * Reads judgements, also of gzip: trec_eval's four columns, or the three of BEIR (`query-id corpus-id score`).
 *
 * @throws StorageError, ValidationError naming the line.
 */
export function readJudgements(path: string): Qrels {
  const qrels = readTrecOrBeirQrels(path);
  if (qrels.size > 0) return qrels;
  throw new ValidationError(`file has no judgement: ${path}; name a file of lines such as "q1 0 d7 1"`, { path });
}

const queryLine = z.looseObject({ id: z.string().optional(), query: z.string().optional() });

/** Values of a file for each query, by its key in JSONL: how errors name its lines and its values, and an example. */
const QUERY_COLUMNS = {
  cluster: { lines: 'clusters', meaning: 'conversation', example: 'c1' },
  kind: { lines: 'strata', meaning: 'stratum', example: 'paraphrase' },
} as const;
type QueryColumn = keyof typeof QUERY_COLUMNS;

function parseQueryLine(key: QueryColumn, line: string, at: string): readonly [string, string] {
  const fields = line.trim().split(/\s+/);
  if (!line.trim().startsWith('{') && fields.length === 2) return fields as [string, string];
  try {
    const row = parse(queryLine, JSON.parse(line), at);
    const [query, value] = [row.query ?? row.id, row[key]];
    if (query !== undefined && typeof value === 'string') return [query, value];
  } catch {
    // another shape, as the error below says
  }
  const { lines, meaning, example } = QUERY_COLUMNS[key];
  throw new ValidationError(
    `no line of ${lines} at ${at}; write a query and its ${meaning} in two columns, or {"query": "q1", "${key}": "${example}"}`,
    { at },
  );
}

/**
 * Reads the conversation (`cluster`) or the stratum (`kind`) of each query: two columns, or JSONL such as the
 * `queries.jsonl` of a run.
 *
 * @throws StorageError, ValidationError naming the line.
 */
export function readQueryColumn(path: string, key: QueryColumn): ReadonlyMap<string, string> {
  const filled = Array.from(readLines(path)).filter(({ text }) => text.trim() !== '');
  return new Map(filled.map(({ text, where }) => parseQueryLine(key, text, where)));
}

const documentLine = z.union([
  z.looseObject({ id: z.string() }).transform(({ id }) => id),
  z.looseObject({ _id: z.string() }).transform(({ _id }) => _id),
]);

/**
 * Reads the ids of a collection: one a line, or JSONL with `id` or `_id`, such as the `turns.jsonl` of a run or the
 * corpus of BEIR.
 *
 * @throws StorageError, ValidationError naming the line.
 */
export function readDocuments(path: string): ReadonlySet<string> {
  const read = (line: string, at: string): string => {
    if (!line.startsWith('{')) return line;
    try {
      return parse(documentLine, JSON.parse(line), at);
    } catch (error) {
      throw new ValidationError(`no document at ${at}; write an id, or {"id": "d1"}`, { at }, { cause: error });
    }
  };
  const filled = Array.from(readLines(path)).filter(({ text }) => text.trim() !== '');
  return new Set(filled.map(({ text, where }) => read(text.trim(), where)));
}
