import { z } from 'zod';
import { DimensionMismatchError, NotFiniteError } from '../../core/errors/errors.ts';
import { isTime } from '../../core/validation/validation.ts';
import { type Attributes, attributesSchema, storedText as text } from './memory-fields.ts';

/** One utterance of a conversation: a message, a post, a chat line. Immutable once loaded. */
export interface Turn {
  readonly id: string;
  readonly conversationId: string;
  /** The turn that this one answers, in the same conversation; null for a root. */
  readonly parentId: string | null;
  /** Milliseconds since 1970-01-01 UTC. A child is never before its parent. */
  readonly timestamp: number;
  /** A pseudonym if the source has real people. */
  readonly author: string | null;
  /** The place of the turn: a mailing list, a channel, a session. */
  readonly channel: string | null;
  readonly text: string;
  /** What else is known of the turn; absent: nothing. */
  readonly attributes?: Attributes;
}

/**
 * No statistics are computed of outcomes beyond it, negative ones too: their squares, times any count, would exceed
 * float64.
 */
export const LARGEST_OUTCOME = 1e140;

/** Running statistics of the outcomes that were observed after a record was made. */
export interface OutcomeStatistics {
  readonly count: number;
  /** 0 without an outcome. */
  readonly mean: number;
  /** The remainder of the mean that rounding left; absent: 0. */
  readonly meanRemainder?: number;
  /** Sum of squared distances from the mean. */
  readonly m2: number;
  readonly min: number | null;
  readonly max: number | null;
}

/** Statistics of no outcome. */
export const EMPTY_OUTCOME_STATISTICS: OutcomeStatistics = Object.freeze({
  count: 0,
  mean: 0,
  m2: 0,
  min: null,
  max: null,
});

/**
 * Whether the bounds are outcomes, equal for one outcome, the mean is between them, what rounding left of it is less
 * than its last digit, and m2 is a sum of squares of distances between them. Without an outcome there are no bounds,
 * and mean and m2 are 0.
 */
export function areConsistent({ count, mean, meanRemainder = 0, m2, min, max }: OutcomeStatistics): boolean {
  if (!Number.isInteger(count) || count < 0 || mean + meanRemainder !== mean) return false;
  if (count === 0) return mean === 0 && m2 === 0 && min === null && max === null;
  if (min === null || max === null) return false;
  const areBounds = -LARGEST_OUTCOME <= min && min <= mean && mean <= max && max <= LARGEST_OUTCOME;
  return areBounds && (count > 1 || min === max) && m2 >= 0 && m2 <= count * (max - min) ** 2;
}

/** Statistics of one outcome. */
export function toOutcomeStatistics(outcome: number): OutcomeStatistics {
  return { count: 1, mean: outcome, m2: 0, min: outcome, max: outcome };
}

/** The five coordinates of a turn in its conversation. */
export interface RecordTrajectory {
  readonly depth: number;
  readonly siblingOrder: number;
  readonly homogeneity: number;
  readonly temporal: number;
  readonly complexity: number;
}

/** A turn with its vector, as the memory engine holds it. Immutable but for `stats`. */
export interface MemoryRecord {
  readonly id: string;
  /** [D] */
  readonly embedding: Float32Array;
  /** The text of the turn. */
  readonly context: string;
  /**
   * How well it went, as observed when the record was made; the first of its observations. null: not known. The
   * attribute `outcome` of the turn.
   */
  readonly outcome: number | null;
  /** The other attributes of the turn. */
  readonly metadata: Attributes;
  /** Milliseconds since 1970-01-01 UTC: the time of the turn. */
  readonly createdAt: number;
  /** Outcomes that were observed later. */
  readonly stats: OutcomeStatistics;
  readonly trajectory: RecordTrajectory | null;
  readonly conversationId: string;
  readonly parentId: string | null;
  readonly author: string | null;
  readonly channel: string | null;
}

/** The fields of a record that a turn does not have. */
export interface RecordParts {
  readonly embedding: Float32Array;
  readonly stats?: OutcomeStatistics;
  readonly trajectory?: RecordTrajectory | null;
}

/** The record of a turn. {@link toTurn} gives the turn back. */
export function toMemoryRecord(turn: Turn, parts: RecordParts): MemoryRecord {
  const { outcome, ...metadata } = turn.attributes ?? {};
  const { embedding, stats = EMPTY_OUTCOME_STATISTICS, trajectory = null } = parts;
  const { id, conversationId, parentId, author, channel } = turn;
  const shared = { id, conversationId, parentId, author, channel };
  return {
    ...shared,
    embedding,
    context: turn.text,
    outcome: (outcome as number | undefined) ?? null,
    metadata,
    createdAt: turn.timestamp,
    stats,
    trajectory,
  };
}

/** The turn of a record: everything but its vector, its later outcomes and its trajectory. */
export function toTurn(record: MemoryRecord): Turn {
  const { id, conversationId, parentId, author, channel, outcome, metadata } = record;
  const attributes = outcome === null ? metadata : { ...metadata, outcome };
  const turn = { id, conversationId, parentId, timestamp: record.createdAt, author, channel, text: record.context };
  return Object.keys(attributes).length === 0 ? turn : { ...turn, attributes };
}

/** The text of a turn after the name of its author, if it has one. */
export function sayTurn({ author, text }: Pick<Turn, 'author' | 'text'>): string {
  return author === null ? text : `${author}: ${text}`;
}

/**
 * @throws DimensionMismatchError for a vector of another length; NotFiniteError for NaN and infinite numbers.
 */
export function assertEmbedding(embedding: Float32Array, dimension: number, where: string): void {
  if (embedding.length !== dimension)
    throw new DimensionMismatchError(`embedding of ${where}`, dimension, embedding.length);
  for (
    let i = 0;
    i < dimension;
    i++ // findIndex takes ten times as long
  )
    if (!Number.isFinite(embedding[i]))
      throw new NotFiniteError(`embedding of ${where}`, `dimension ${i}`, embedding[i] as number);
}

/** A number of a record. The bound is that of attributes: the outcome of a record is an attribute of its turn. */
const finite = z.number('a finite number').min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
/** Squares of larger coordinates exceed float32. */
const coordinate = z.number('a finite number').min(-1e18).max(1e18);
const id = text.min(1);

const statisticsSchema = z
  .strictObject({
    count: z.int().min(0),
    mean: finite,
    meanRemainder: finite.exactOptional(),
    m2: z.number('a finite number').min(0),
    min: finite.nullable(),
    max: finite.nullable(),
  })
  .refine(areConsistent, 'statistics of outcomes, which do not contradict themselves');

/** The five coordinates of a record or a query. */
export const trajectorySchema = z.strictObject({
  depth: coordinate,
  siblingOrder: coordinate,
  homogeneity: coordinate,
  temporal: coordinate,
  complexity: coordinate,
});

const fields = z.strictObject({
  id,
  embedding: z.instanceof(Float32Array),
  context: text,
  outcome: finite.nullable().default(null),
  metadata: attributesSchema
    .refine((metadata) => !Object.hasOwn(metadata, 'outcome'), 'no outcome, which is a field of the record')
    .prefault({}),
  /** Milliseconds since 1970-01-01 UTC. */
  createdAt: z.custom<number>(isTime, 'a time in milliseconds since 1970, at most 8.64e15'),
  stats: statisticsSchema.prefault({ ...EMPTY_OUTCOME_STATISTICS }),
  trajectory: trajectorySchema.nullable().default(null),
  /** Default: the id of the record. */
  conversationId: id.optional(),
  parentId: id.nullable().default(null),
  author: text.nullable().default(null),
  channel: text.nullable().default(null),
});

/** The names of the fields of a record. */
export const memoryRecordFields: readonly string[] = Object.freeze(Object.keys(fields.shape));

/** A record as a caller writes it: fields that have a default may be missing. */
export type MemoryRecordInput = Omit<
  MemoryRecord,
  'outcome' | 'metadata' | 'stats' | 'trajectory' | 'conversationId' | 'parentId' | 'author' | 'channel'
> &
  Partial<MemoryRecord>;

/**
 * A record as it enters. Missing fields get their defaults: the conversation is the record itself, everything else is
 * not known.
 */
export const memoryRecordSchema = fields.transform((record) => ({
  // Each by its name, not by a rest: a batch of records takes half of the time.
  id: record.id,
  embedding: record.embedding,
  context: record.context,
  outcome: record.outcome,
  metadata: record.metadata,
  createdAt: record.createdAt,
  stats: record.stats,
  trajectory: record.trajectory,
  conversationId: record.conversationId ?? record.id, // in its place also where it was missing, so that a record that is stored again has the same bytes
  parentId: record.parentId,
  author: record.author,
  channel: record.channel,
})) as unknown as z.ZodType<MemoryRecord, MemoryRecordInput>;
