import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { computeHashInSteps } from '../../core/hash/hash.ts';
import {
  finishSteps,
  finishStepsWithBreaks,
  ignoreProgress,
  type StartProgress,
  type Steps,
} from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { SUPERSEDED_FILE } from '../../eval/trec/trec-files.ts';
import type { Dataset, Query, Split } from '../../model/dataset.ts';
import { findChainEnds } from '../../model/turns/conversation.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import {
  type Counts,
  countUndecodable,
  displayDataset,
  findTestStart,
  groupJudgements,
  isDev,
  type Judgement,
  type Start,
} from '../prepared/prepared.ts';
import {
  type Located,
  type OnDirtyRow,
  type QrelRow,
  type QueryRow,
  queryRow,
  RowFaults,
  readQrelsInSteps,
  readRows,
  readRowsInSteps,
  readSupersededInSteps,
  type SupersededRow,
  selectUniqueRows,
  type TurnRow,
  turnRow,
} from './jsonl-rows.ts';

type Rows = ReadonlyMap<string, Located<TurnRow>>;

/**
 * The turns that hang together, in the order of the file: each reaches a root of its own conversation over parents that
 * are not later. Turns below an invalid turn are excluded too, since another parent would create a conversation that
 * never existed.
 */
export function selectSoundTurns(located: readonly Located<TurnRow>[], faults: RowFaults): Turn[] {
  const rows = selectUniqueRows(located, faults);
  const broken = new Set<string>();
  for (const { where, row } of rows.values()) {
    const fault = describeLinkFault(row, rows);
    if (fault === null) continue;
    broken.add(row.id);
    faults.add(where, ...fault);
  }
  const reached = listReachable(rows, broken);
  const sound: TurnRow[] = [];
  const unreached: Located<TurnRow>[] = [];
  for (const located of rows.values())
    if (reached.has(located.row.id)) sound.push(located.row);
    else if (!broken.has(located.row.id)) unreached.push(located);
  addUnreached(unreached, rows, broken, faults);
  return sound;
}

function describeLinkFault(row: TurnRow, rows: Rows): [kind: string, detail: string] | null {
  if (row.parentId === null) return null;
  const parent = rows.get(row.parentId)?.row;
  if (parent === undefined) return ['missing parent', row.parentId];
  if (parent.conversationId !== row.conversationId)
    return ['parent in another conversation', `${row.conversationId} and ${parent.conversationId}`];
  return parent.timestamp > row.timestamp ? ['before its parent', row.parentId] : null;
}

/** The ids that hang from a root over links that are not broken. */
function listReachable(rows: Rows, broken: ReadonlySet<string>): Set<string> {
  const children = new Map<string | null, string[]>();
  for (const { row } of rows.values())
    if (!broken.has(row.id)) getOrCompute(children, row.parentId, () => [] as string[]).push(row.id);
  const reached = new Set<string>(children.get(null));
  for (const id of reached) for (const child of children.get(id) ?? []) reached.add(child);
  return reached;
}

/** A turn that reaches no root is in a cycle, or hangs from a faulty turn. */
function addUnreached(
  unreached: readonly Located<TurnRow>[],
  rows: Rows,
  broken: ReadonlySet<string>,
  faults: RowFaults,
): void {
  const ids = unreached.map(({ row }) => row.id);
  const ends = findChainEnds(ids, (id) => (broken.has(id) ? null : (rows.get(id)?.row.parentId ?? null)));
  for (const { where, row } of unreached) {
    const end = ends.get(row.id) as string;
    if (end === row.id) faults.add(where, 'its own ancestor, a cycle', row.id);
    else faults.add(where, 'hangs from a faulty turn', end);
  }
}

/** The queries made from rows. */
interface SplitQueries {
  /** In the order of the rows. */
  readonly queries: readonly Query[];
  readonly devConversations: ReadonlySet<string>;
}

/**
 * Splits the queries into dev and test. With a split in the rows: as given, and a conversation is dev if it starts
 * before the first test query and no test query belongs to it. Without: by conversations, the first 70 % by time of
 * first turn are dev; a query follows its conversation, or its own time without a conversation.
 *
 * @param rows all with a split, or all without.
 */
export function splitQueries(corpus: Corpus, rows: readonly QueryRow[]): SplitQueries {
  const starts = corpus.conversations.map(({ id, turns }) => ({ id, timestamp: (turns[0] as Turn).timestamp }));
  const homes = rows.map((row) => row.conversationId ?? findAnchorConversation(corpus, row));
  const given = rows.some((row) => row.split !== undefined);
  const first = findTestStart(starts);
  const devConversations = given ? chooseDevAsGiven(starts, rows, homes) : chooseDevByStart(starts, first);
  const chooseRowSplit = (row: QueryRow, home: string | null): Split => {
    if (row.split !== undefined) return row.split;
    if (home !== null) return devConversations.has(home) ? 'dev' : 'test';
    return isDev({ id: row.id, timestamp: row.timestamp }, first) ? 'dev' : 'test';
  };
  const queries = rows.map((row, i): Query => {
    const { conversationId: _, cluster, kind, generator: __, sources: ___, ...rest } = row;
    const home = homes[i] ?? null;
    return {
      ...rest,
      ...(kind === undefined ? {} : { kind }),
      split: chooseRowSplit(row, home),
      cluster: cluster ?? home ?? row.id,
    };
  });
  return { queries, devConversations };
}

function findAnchorConversation(corpus: Corpus, { anchorTurnId }: QueryRow): string | null {
  return anchorTurnId === null ? null : corpus.getTurn(anchorTurnId).conversationId;
}

function chooseDevByStart(starts: readonly Start[], first: Start | null): Set<string> {
  return new Set(starts.filter((start) => isDev(start, first)).map(({ id }) => id));
}

function chooseDevAsGiven(
  starts: readonly Start[],
  rows: readonly QueryRow[],
  homes: readonly (string | null)[],
): Set<string> {
  let firstTest = Number.POSITIVE_INFINITY;
  const closed = new Set<string | null | undefined>();
  for (const [i, { split, timestamp }] of rows.entries())
    if (split === 'test') {
      firstTest = Math.min(firstTest, timestamp);
      closed.add(homes[i]);
    }
  return new Set(starts.filter(({ id, timestamp }) => timestamp < firstTest && !closed.has(id)).map(({ id }) => id));
}

/** A query as a person writes it. */
const ownQueryRow = queryRow
  .pick({ text: true, kind: true })
  .extend({ id: queryRow.shape.id.optional(), timestamp: queryRow.shape.timestamp.optional() });

/**
 * The queries of a JSON Lines file, in time order. Without a time a query is asked a millisecond after the last turn,
 * without an id it is named by its line.
 *
 * @throws ValidationError that names every invalid row, and for no query; StorageError if the file cannot be read.
 */
export function readOwnQueries(path: string, corpus: Corpus): SplitQueries {
  const faults = new RowFaults();
  const located = readRows(dirname(path), basename(path), ownQueryRow, faults);
  const end = (corpus.turns.at(-1)?.timestamp ?? 0) + 1;
  const named = located.map(({ where, row }) => ({
    where,
    row: {
      ...row,
      id: row.id ?? `own-${where.slice(where.lastIndexOf(':') + 1)}`,
      timestamp: row.timestamp ?? end,
      anchorTurnId: null,
      author: null,
      channel: null,
    } satisfies QueryRow,
  }));
  const rows = [...selectUniqueRows(named, faults).values()].map(({ row }) => row);
  faults.settle(path, 'error', 'remove the rows');
  if (rows.length === 0) throw new ValidationError(`no query in: ${path}; add a line such as {"text": "red lentils"}`);
  rows.sort((a, b) => a.timestamp - b.timestamp || compareBytes(a.id, b.id));
  return splitQueries(corpus, rows);
}

/**
 * The queries whose ids are their own, whose turns and conversations are there, and whose anchors are earlier turns of
 * their conversations, in time order.
 */
export function selectSoundQueries(
  located: readonly Located<QueryRow>[],
  turns: readonly Turn[],
  faults: RowFaults,
): QueryRow[] {
  const anchors = new Map(turns.map((turn) => [turn.id, turn]));
  const conversationIds = new Set(turns.map((turn) => turn.conversationId));
  const allSplit = located.some(({ row }) => row.split !== undefined);
  const sound: QueryRow[] = [];
  for (const { where, row } of selectUniqueRows(located, faults).values()) {
    const fault = describeAnchorFault(row, anchors);
    if (fault !== null) faults.add(where, ...fault);
    else if (row.conversationId !== undefined && !conversationIds.has(row.conversationId))
      faults.add(where, 'missing conversation', row.conversationId);
    else if (allSplit && row.split === undefined) faults.add(where, 'no split, where other queries have one', row.id);
    else sound.push(row);
  }
  return sound.sort((a, b) => a.timestamp - b.timestamp || compareBytes(a.id, b.id));
}

function describeAnchorFault(row: QueryRow, turns: ReadonlyMap<string, Turn>): [kind: string, detail: string] | null {
  if (row.anchorTurnId === null) return null;
  const anchor = turns.get(row.anchorTurnId);
  if (anchor === undefined) return ['missing anchor turn', row.anchorTurnId];
  if (row.conversationId !== undefined && row.conversationId !== anchor.conversationId)
    return ['anchor in another conversation', `${row.conversationId} and ${anchor.conversationId}`];
  return anchor.timestamp >= row.timestamp ? ['anchor is not earlier than its query', anchor.id] : null;
}

/**
 * The judgements of queries and turns that are there; a turn that is not strictly earlier than its query can't be
 * found.
 */
export function selectSoundJudgements(
  located: readonly Located<QrelRow>[],
  queries: readonly QueryRow[],
  turns: readonly Turn[],
  faults: RowFaults,
): Judgement[] {
  const describePairFault = createPairCheck(queries, turns);
  const seen = new Set<string>();
  const sound: Judgement[] = [];
  for (const { where, row } of located) {
    const pair = `${row.queryId} ${row.turnId}`;
    const fault = describePairFault(row.queryId, row.turnId);
    if (fault !== null) faults.add(where, ...fault);
    else if (seen.has(pair)) faults.add(where, 'judged twice', pair);
    else sound.push(row);
    seen.add(pair);
  }
  return sound;
}

/** A function that says why a query cannot find a turn; null if it can. */
function createPairCheck(queries: readonly QueryRow[], turns: readonly Turn[]) {
  const queryTimes = new Map(queries.map((query) => [query.id, query.timestamp]));
  const turnTimes = new Map(turns.map((turn) => [turn.id, turn.timestamp]));
  return (queryId: string, turnId: string): [kind: string, detail: string] | null => {
    const [asked, said] = [queryTimes.get(queryId), turnTimes.get(turnId)];
    if (asked === undefined) return ['unknown query', queryId];
    if (said === undefined) return ['unknown turn', turnId];
    return said >= asked ? ['turn is not earlier than its query', turnId] : null;
  };
}

/**
 * The superseded turns of queries and turns that are there. A turn and its replacement must be strictly earlier than
 * the query.
 */
function selectSoundSuperseded(
  located: readonly Located<SupersededRow>[],
  queries: readonly QueryRow[],
  turns: readonly Turn[],
  faults: RowFaults,
): Map<string, Map<string, string>> {
  const describePairFault = createPairCheck(queries, turns);
  const sound = new Map<string, Map<string, string>>();
  for (const { where, row } of located) {
    const { queryId, turnId, replacementId } = row;
    const fault = describePairFault(queryId, turnId) ?? describePairFault(queryId, replacementId);
    if (fault !== null) faults.add(where, ...fault);
    else if (turnId === replacementId) faults.add(where, 'replaces itself', turnId);
    else if (sound.get(queryId)?.has(turnId)) faults.add(where, 'superseded twice', `${queryId} ${turnId}`);
    else getOrCompute(sound, queryId, () => new Map<string, string>()).set(turnId, replacementId);
  }
  return sound;
}

/** Rows that fit their schemas, wherever they come from. */
interface LocatedRows {
  readonly turns: readonly Located<TurnRow>[];
  readonly queries: readonly Located<QueryRow>[];
  readonly judgements: readonly Located<QrelRow>[];
  /** Absent if the source does not name superseded turns. */
  readonly superseded?: readonly Located<SupersededRow>[];
}

/** The names that distinguish one source of rows from another. */
interface RowSource {
  /** The name of the dataset. */
  readonly name: string;
  readonly licence: string;
  /** The source of the judgements. */
  readonly judgedBy: string;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** Ends reading, see {@link RowFaults.settle}. */
  readonly settle: () => Counts;
  /** The name of one of the lists in messages. */
  readonly describeList: (list: 'turns' | 'queries') => string;
}

/** The features that rows without attributes have. */
const FEATURES = ['text', 'time', 'author', 'channel', 'reply links'];

/**
 * The dataset that rows make: rows that belong together, split into dev and test.
 *
 * @throws ValidationError for invalid rows unless they are skipped, and if no turn or no query is left.
 */
export function buildRowDataset(rows: LocatedRows, faults: RowFaults, source: RowSource): Dataset {
  return finishSteps(buildRowDatasetInSteps(rows, faults, source));
}

/** The most steps of {@link buildRowDatasetInSteps}: a few, and one for each row that is hashed. */
function countRowDatasetSteps({ turns, queries, judgements }: LocatedRows): number {
  return 7 + turns.length + queries.length + judgements.length;
}

/** {@link buildRowDataset} in steps, of which the longest builds the corpus. */
function* buildRowDatasetInSteps(rows: LocatedRows, faults: RowFaults, source: RowSource): Steps<Dataset> {
  const { name, licence, judgedBy, relevantGrade, settle, describeList } = source;
  const turns = selectSoundTurns(rows.turns, faults);
  yield;
  const asked = selectSoundQueries(rows.queries, turns, faults);
  yield;
  const judgements = selectSoundJudgements(rows.judgements, asked, turns, faults);
  yield;
  const superseded = rows.superseded && selectSoundSuperseded(rows.superseded, asked, turns, faults);
  yield;
  const counts = settle();
  if (turns.length === 0)
    throw new ValidationError(`no turn in ${describeList('turns')}; add turns, or correct the skipped rows`);
  if (asked.length === 0)
    throw new ValidationError(`no query in ${describeList('queries')}; add queries, or correct the skipped rows`);
  const corpus = new Corpus(turns);
  yield;
  const { queries, devConversations } = splitQueries(corpus, asked);
  countUndecodable([...turns, ...asked], counts);
  yield;
  counts.add('messages', corpus.size);
  counts.add('conversations', corpus.conversations.length);
  counts.add('queries', queries.length);
  for (const split of ['dev', 'test'] as const)
    counts.add(`queries, ${split}`, queries.filter((query) => query.split === split).length);
  counts.add('judgements', judgements.length);
  if (superseded !== undefined)
    counts.add(
      'superseded turns of queries',
      Array.from(superseded.values()).reduce((sum, { size }) => sum + size, 0),
    );
  const stated = superseded && { superseded: Array.from(superseded, ([id, turns]) => [id, [...turns]]) };
  const hash = yield* computeHashInSteps({ turns: corpus.turns, queries, judgements, relevantGrade, ...stated });
  yield;
  return displayDataset({
    name,
    declaration: {
      task: `each query must find the messages that ${judgedBy} judges, among all strictly earlier ones`,
      features: [...FEATURES, ...(turns.some(({ attributes }) => attributes !== undefined) ? ['attributes'] : [])],
      licence,
    },
    ...{ corpus, queries, relevantGrade, gradeNames: {}, devConversations, hash },
    qrels: groupJudgements(queries, judgements),
    ...(superseded !== undefined && { superseded }),
    facts: counts.toFacts(),
  });
}

/** A folder of turns, queries and judgements, what to do with a row that breaks the rules, and the least relevant grade. */
export interface JsonlOptions {
  /** The folder with turns.jsonl, queries.jsonl, qrels.txt and, if superseded turns are known, superseded.tsv. */
  readonly path: string;
  /** The treatment of invalid rows: one error that names them all, or a count of them in the facts. */
  readonly onDirtyRow: OnDirtyRow;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
}

const FILES = ['turns.jsonl', 'queries.jsonl', 'qrels.txt'] as const;

/**
 * Your own conversations, questions and judgements. The format is in docs/datasets/jsonl.md.
 *
 * @throws ValidationError for invalid rows unless they are skipped, and if no turn or no query is left; StorageError if a file cannot be read.
 */
export async function loadJsonl(
  options: JsonlOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const { path, onDirtyRow, relevantGrade } = options;
  const missing = FILES.filter((file) => !existsSync(join(path, file)));
  if (missing.length > 0)
    throw new StorageError('read', path, {
      cause: new Error(`no ${missing.join(', ')}`),
      remedy: `name a folder with ${FILES.join(', ')}; see docs/datasets/jsonl.md`,
    });
  const faults = new RowFaults();
  const [turnFile, queryFile, judgementFile] = FILES;
  const rows = {
    turns: await readInSteps(path, turnFile, progress, (on) => readRowsInSteps(path, turnFile, turnRow, faults, on)),
    queries: await readInSteps(path, queryFile, progress, (on) =>
      readRowsInSteps(path, queryFile, queryRow, faults, on),
    ),
    judgements: await readInSteps(path, judgementFile, progress, (on) =>
      readQrelsInSteps(path, judgementFile, faults, on),
    ),
    ...(existsSync(join(path, SUPERSEDED_FILE)) && {
      superseded: await readInSteps(path, SUPERSEDED_FILE, progress, (on) =>
        readSupersededInSteps(path, SUPERSEDED_FILE, faults, on),
      ),
    }),
  };
  const settle = () => faults.settle(path, onDirtyRow);
  const licence = 'that of the data in the folder';
  const describeList = (list: string) => `${list}.jsonl of: ${path}`;
  const source = { name: 'jsonl', licence, judgedBy: 'qrels.txt', relevantGrade, settle, describeList };
  const stage = progress('check the rows', countRowDatasetSteps(rows));
  const dataset = await finishStepsWithBreaks(buildRowDatasetInSteps(rows, faults, source), stage.update);
  stage.finish(`${dataset.corpus.size} turns`);
  return dataset;
}

/** Reads a file in steps and reports its bytes. */
async function readInSteps<T>(
  folder: string,
  file: string,
  progress: StartProgress,
  read: (onRead: (bytes: number) => void) => Steps<readonly T[]>,
): Promise<readonly T[]> {
  const stage = progress(`bytes of ${file}`, statSync(join(folder, file)).size);
  const rows = await finishStepsWithBreaks(read(stage.update), () => {});
  stage.finish(`${rows.length} rows`);
  return rows;
}
