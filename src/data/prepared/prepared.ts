import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { attachDisplay, buildTableBundle, phrase, stateShown } from '../../core/display/display.ts';
import { UnavailableError } from '../../core/errors/errors.ts';
import { locatePath } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { Dataset, Query, Split } from '../../model/dataset.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';

/**
 * The folder of the file that wrote a dataset's options. It is stored beside the options, not in them: a resolved
 * config, and every hash of it, must not depend on the location of its file.
 */
const folders = new WeakMap<object, string>();

/**
 * Notes the folder in which the path of a dataset is looked for before the working directory; null for the working
 * directory alone.
 */
export function setDataFolder(options: object, folder: string | null): void {
  if (folder === null) folders.delete(options);
  else folders.set(options, folder);
}

/** The options that are paths. */
const PATH_KEYS = ['path', 'queryFile'] as const;

type Paths = { -readonly [Key in (typeof PATH_KEYS)[number]]?: unknown };

/** The places where the data of a dataset is looked for; which of them exist decides what is read. */
export function listDataPlaces(options: object): string[] {
  const { path, queryFile }: Paths = options;
  const folder = folders.get(options) ?? '';
  return [path, queryFile].flatMap((one) => (typeof one === 'string' ? [resolve(folder, one), resolve(one)] : []));
}

/** The options with the paths at which their data is. */
function withLocatedPath<Options extends object>(options: Options): Options {
  if (typeof options !== 'object' || options === null) return options;
  const located: Options & Paths = { ...options };
  const folder = folders.get(options) ?? null;
  for (const key of PATH_KEYS) if (typeof located[key] === 'string') located[key] = locatePath(located[key], folder);
  return located;
}

/**
 * {@link withLocatedPath} of a path that must exist.
 *
 * @throws UnavailableError for the path of a config that leads nowhere, naming both places.
 */
export function withFoundPath<Options extends object>(options: Options): Options {
  const located = withLocatedPath(options);
  const folder = folders.get(options);
  const path = folder === undefined ? null : (located as { readonly path?: unknown }).path;
  if (folder === undefined || typeof path !== 'string' || existsSync(path)) return located;
  const locations = isAbsolute(path) ? '' : `, neither in ${folder} nor in the working directory`;
  throw new UnavailableError('data of the config', `no file or folder at ${path}${locations}; set its path`);
}

/**
 * The folder of {@link setDataFolder} if the data is there; null if it is in the working directory or at an absolute
 * path.
 */
export function findUsedDataFolder(options: object): string | null {
  const located: { readonly path?: unknown } = withLocatedPath(options);
  const written: { readonly path?: unknown } = options;
  return located.path === written.path ? null : (folders.get(options) ?? null);
}

/**
 * Puts a question into dev or test by a hash of its id, about half in each: neither the order of a file nor the other
 * questions matter.
 */
export function chooseSplitByHash(id: string): Split {
  return Number.parseInt(computeHash(id).charAt(0), 16) < 8 ? 'dev' : 'test';
}

/** Share of the conversations that are for development. */
const DEV_SHARE = 0.7;

export interface Start {
  readonly id: string;
  /** Time of the first turn, in milliseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
}

/** By time of the first turn, ids by bytes if times are equal. */
function compareStarts(a: Start, b: Start): number {
  return a.timestamp - b.timestamp || compareBytes(a.id, b.id);
}

/**
 * The first conversation of the test part: the first 70 % of those that are counted come before it. Whatever starts
 * before it is for development, so that nothing learned there has seen a test conversation.
 *
 * @returns null if no conversation is left for test.
 */
export function findTestStart(counted: readonly Start[]): Start | null {
  return [...counted].sort(compareStarts)[Math.floor(DEV_SHARE * counted.length)] ?? null;
}

export function isDev(start: Start, first: Start | null): boolean {
  return first === null || compareStarts(start, first) < 0;
}

/** The character for an undecodable byte, and half of a surrogate pair, which UTF-8 cannot encode. */
const UNDECODABLE = /[\ufffd\p{Cs}]/u;

/** Counts the texts in which something could not be read, so that it is not replaced in silence. */
export function countUndecodable(texts: Iterable<{ readonly text: string }>, counts: Counts): void {
  counts.add('texts with undecodable characters', 0);
  for (const { text } of texts) if (UNDECODABLE.test(text)) counts.add('texts with undecodable characters');
}

/** Grades of a reply's judgements. */
export const PARENT = 3;
export const ANCESTOR = 2;
export const SAME_THREAD = 1;

/** The names of the grades. */
export const GRADE_NAMES: Readonly<Record<number, string>> = {
  [PARENT]: 'parent',
  [ANCESTOR]: 'ancestor',
  [SAME_THREAD]: 'same thread',
};

/** Counts by name, in the order in which the names first came up. */
export class Counts {
  readonly #counts = new Map<string, number>();

  /** @param amount 0 makes a name appear though nothing was counted. */
  add(name: string, amount = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + amount);
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  toFacts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}

/** The counts of judgements that name no turn of the data, by dataset. A run warns of them. */
export const UNKNOWN_TURNS = freezeDeeply({
  jsonl: 'skipped in qrels.txt: unknown turn',
  locomo: 'evidence that names no turn',
  'trec-collection': 'skipped: judgements of unknown documents',
} as const);

/** The judgements that name no turn of the data. @param facts of a dataset */
export function countUnknownTurns(facts: Readonly<Record<string, number>>): number {
  return Object.values(UNKNOWN_TURNS).reduce((sum, fact) => sum + (facts[fact] ?? 0), 0);
}

/** A dataset of replies as plain rows, as they are cached on disk. Its judgements follow from the trees of the turns. */
export interface Prepared {
  readonly turns: readonly Turn[];
  readonly queries: readonly Query[];
  readonly devConversations: readonly string[];
  readonly facts: Readonly<Record<string, number>>;
}

export interface Judgement {
  readonly queryId: string;
  readonly turnId: string;
  readonly grade: number;
}

/** The judgements by query, in the order of the queries. */
export function groupJudgements(
  queries: readonly Query[],
  judgements: readonly Judgement[],
): Map<string, Map<string, number>> {
  const qrels = new Map<string, Map<string, number>>(queries.map((query) => [query.id, new Map()]));
  for (const { queryId, turnId, grade } of judgements) qrels.get(queryId)?.set(turnId, grade);
  return qrels;
}

/** Lets a notebook show a dataset as a table of its counts. @returns the same object. */
export function displayDataset(dataset: Dataset): Dataset {
  return attachDisplay(dataset, ({ name, corpus, queries, qrels, facts, declaration }) => {
    const counts = {
      turns: corpus.size,
      conversations: corpus.conversations.length,
      queries: queries.length,
      'queries with judgements': qrels.size,
      ...facts,
    };
    const rows = Object.entries(counts).map(([what, count]) => ({ what: stateShown(what), count }));
    const present = rows.filter(({ count }) => count !== 0);
    return buildTableBundle(present, {
      caption: phrase`${stateShown(name)}: ${stateShown(declaration.task)}`,
      limit: 16,
    });
  });
}
