import { DimensionMismatchError, NotFiniteError } from '../../core/errors/errors.ts';
import type { Attributes } from './attributes.ts';
import type { Turn } from './turn.ts';

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
  /** What rounding left of the mean; absent: 0. */
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

/** What a record has and a turn has not. */
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
