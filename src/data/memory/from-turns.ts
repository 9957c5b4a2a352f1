import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check, parse } from '../../core/validation/validation.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Attributes } from '../../model/turns/memory-fields.ts';
import { buildRowDataset } from '../jsonl/jsonl.ts';
import {
  checkRows,
  id,
  type Located,
  type QrelRow,
  queryRow,
  RowFaults,
  type SupersededRow,
  turnRow,
} from '../jsonl/jsonl-rows.ts';

/** A date, a text in ISO 8601 with a zone, or milliseconds since 1970. */
export type Moment = Date | string | number;

/** A turn as a program writes it. */
export interface TurnInput {
  /** One word, unique. */
  readonly id: string;
  readonly conversationId: string;
  readonly timestamp: Moment;
  readonly text: string;
  /** The turn that this one answers; null for a root. By default the turn of its conversation before it in the list. */
  readonly parentId?: string | null;
  readonly author?: string | null;
  readonly channel?: string | null;
  /** What else is known of the turn. */
  readonly attributes?: Attributes;
}

/** A query as a program writes it. */
export interface QueryInput {
  /** One word, unique. */
  readonly id: string;
  readonly text: string;
  /** Only turns strictly earlier than this may answer. By default a millisecond after the last turn. */
  readonly timestamp?: Moment;
  /** All queries have a split, or none; without, conversations that start in the first 70 % are dev. */
  readonly split?: 'dev' | 'test';
  /** The newest turn of the conversation before the query, if the searcher knows it. */
  readonly anchorTurnId?: string | null;
  /** The conversation that the query belongs to; by default the anchor's. */
  readonly conversationId?: string;
  /** The unit of resampling; by default the conversation. */
  readonly cluster?: string;
  /** Reports group results by it. */
  readonly kind?: string;
  readonly author?: string | null;
  readonly channel?: string | null;
  /** For filters, as `$query.` names. */
  readonly attributes?: Attributes;
}

/** By query: the grade of each judged turn, or the list of its relevant turns, which then have grade 1. */
export type QrelsInput =
  | Readonly<Record<string, Readonly<Record<string, number>> | readonly string[]>>
  | ReadonlyMap<string, ReadonlyMap<string, number>>;

/** By query: the turns whose statement no longer holds when it is asked, each with the turn that states what holds. */
export type SupersededInput =
  | Readonly<Record<string, Readonly<Record<string, string>>>>
  | ReadonlyMap<string, ReadonlyMap<string, string>>;

/** `relevantGrade` is the least grade that counts as relevant where a metric knows only relevant and not. */
export interface FromTurnsOptions {
  /** The least grade that counts as relevant; by default 1. */
  readonly relevantGrade?: number;
  /** Without them no metric of superseded turns is measured. */
  readonly superseded?: SupersededInput;
}

const SOURCE = 'fromTurns';
const options = z.strictObject({ relevantGrade: z.int().min(1).default(1), superseded: z.unknown().optional() });
const lists = z.object({ turns: z.array(z.unknown()), queries: z.array(z.unknown()) });
const grades = z.union([z.record(id, z.int()), z.array(id)]);
const judgements = z.record(z.string(), grades);
const replacements = z.record(z.string(), z.record(id, id));

/** Nested maps as nested objects; everything else as it is. */
function toPlain(value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, inner]) => [key, toPlain(inner)]));
}

/** @throws ConfigurationError for judgements of another shape. */
function listJudgements(qrels: unknown): Located<QrelRow>[] {
  const byQuery = parse(judgements, toPlain(qrels), `${SOURCE}: qrels`);
  return Object.entries(byQuery).flatMap(([queryId, judged]) => {
    const graded = Array.isArray(judged) ? judged.map((turnId) => [turnId, 1] as const) : Object.entries(judged);
    return graded.map(([turnId, grade]) => ({
      where: `qrels.${queryId}`,
      row: { queryId, turnId, grade: Number(grade) },
    }));
  });
}

/** @throws ConfigurationError for superseded turns of another shape. */
function listSuperseded(superseded: unknown): Located<SupersededRow>[] {
  const byQuery = parse(replacements, toPlain(superseded), `${SOURCE}: superseded`);
  return Object.entries(byQuery).flatMap(([queryId, turns]) =>
    Object.entries(turns).map(([turnId, replacementId]) => ({
      where: `superseded.${queryId}`,
      row: { queryId, turnId, replacementId },
    })),
  );
}

type Written = Readonly<Record<string, unknown>>;

/** A turn without a parent answers the turn of its conversation before it in the list. */
function withParents(turns: readonly unknown[]): unknown[] {
  const last = new Map<unknown, unknown>();
  return turns.map((turn) => {
    if (turn === null || typeof turn !== 'object') return turn;
    const { conversationId, id: own, parentId } = turn as Written;
    const parent = parentId === undefined ? (last.get(conversationId) ?? null) : parentId;
    last.set(conversationId, own);
    return { ...turn, parentId: parent };
  });
}

/** @throws ConfigurationError unless both are lists. */
function assertLists(turns: unknown, queries: unknown): void {
  const found = check(lists, { turns, queries });
  if ('faults' in found) throw new ConfigurationError(SOURCE, found.faults as readonly ConfigurationFault[]);
}

/**
 * A dataset of conversations, queries and judgements that the program holds. The fields are those of docs/datasets/jsonl.md. The same rows
 * give the same dataset, and the same hash, as the files of a `jsonl` folder.
 *
 * @throws ConfigurationError for arguments of another shape; ValidationError that names every invalid row, and for no turn or no query.
 */
export function fromTurns(
  turns: readonly TurnInput[],
  queries: readonly QueryInput[],
  qrels: QrelsInput,
  given: FromTurnsOptions = {},
): Dataset {
  const { relevantGrade, superseded } = parse(options, given, `${SOURCE}: options`);
  assertLists(turns, queries);
  const judged = listJudgements(qrels);
  const faults = new RowFaults();
  const said = checkRows(withParents(turns), 'turns', turnRow, faults);
  const end = said.reduce((latest, { row }) => Math.max(latest, row.timestamp), 0) + 1;
  const asked = queries.map((query) => (query?.timestamp === undefined ? { ...query, timestamp: end } : query));
  const rows = {
    ...{ turns: said, queries: checkRows(asked, 'queries', queryRow, faults), judgements: judged },
    ...(superseded !== undefined && { superseded: listSuperseded(superseded) }),
  };
  return buildRowDataset(rows, faults, {
    name: 'memory',
    licence: 'that of the data in the program',
    judgedBy: 'the program',
    relevantGrade,
    settle: () => faults.settle(SOURCE, 'error', 'leave the rows out'),
    describeList: (list) => `${list}: 0 given`,
  });
}
