import { computeHash } from '../../core/hash/hash.ts';
import type { Attributes } from '../../model/turns/attributes.ts';
import { DEFAULT_IMPORTANCE, isActive } from '../../model/turns/memory-fields.ts';
import { EMPTY_OUTCOME_STATISTICS, type MemoryRecord } from '../../model/turns/memory-record.ts';

/** What consolidation writes, and how important it is by default (seed 004). */
export const CONSOLIDATED_IMPORTANCE = Object.freeze({
  summary: DEFAULT_IMPORTANCE.summary,
  procedural: DEFAULT_IMPORTANCE.procedural,
});
/** A type of memory that consolidation writes. */
export type ConsolidatedType = keyof typeof CONSOLIDATED_IMPORTANCE;

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * The person that a memory is about; null: nobody in particular. Memories of different people are never consolidated
 * into one.
 */
export const readUser = ({ metadata }: MemoryRecord): string | null =>
  isText(metadata.userId) ? metadata.userId : null;

/**
 * True if consolidation reads a record: something that happened, that may leave its place, and that was not superseded.
 */
export function isEpisode({ metadata }: MemoryRecord): boolean {
  const { memoryType, sensitive } = metadata;
  const isEvent = memoryType === undefined || memoryType === 'episodic';
  return isEvent && sensitive !== true && isActive({ attributes: metadata });
}

/** The ids of the episodes of a record that consolidation wrote; null for another record. */
export function readEpisodes({ id, metadata: { memoryType, episodes } }: MemoryRecord): readonly string[] | null {
  const isWritten = isText(memoryType) && id.startsWith(`${memoryType}:`) && memoryType in CONSOLIDATED_IMPORTANCE;
  return isWritten && Array.isArray(episodes) ? (episodes as readonly string[]) : null;
}

/** The mean direction of vectors; their plain mean if it has none. [D] */
export function computeMeanVector(vectors: readonly Float32Array[]): Float32Array {
  const sums = new Float64Array((vectors[0] as Float32Array).length);
  for (const vector of vectors) for (const [i, value] of vector.entries()) sums[i] = (sums[i] as number) + value;
  const length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(sums, (sum) => sum / (length || vectors.length));
}

/** The value that all episodes have; null if they differ. */
function findCommon<T>(episodes: readonly MemoryRecord[], read: (record: MemoryRecord) => T): T | null {
  const first = read(episodes[0] as MemoryRecord);
  return episodes.every((episode) => read(episode) === first) ? first : null;
}

/** A record of several episodes. Its time is that of the latest: it holds nothing that was not known then. */
export function buildConsolidated(
  type: ConsolidatedType,
  /** What makes it this one: its id is a hash of them. */
  key: readonly unknown[],
  episodes: readonly MemoryRecord[],
  content: { readonly context: string; readonly embedding: Float32Array; readonly attributes?: Attributes },
): MemoryRecord {
  const user = findCommon(episodes, readUser);
  return {
    id: `${type}:${computeHash(key).slice(0, 16)}`,
    embedding: content.embedding,
    context: content.context,
    outcome: null,
    metadata: {
      ...{ memoryType: type, importance: CONSOLIDATED_IMPORTANCE[type] },
      episodes: [...new Set(episodes.map(({ id }) => id))],
      ...(user === null ? {} : { userId: user }),
      ...content.attributes,
    },
    createdAt: episodes.reduce((latest, { createdAt }) => Math.max(latest, createdAt), Number.NEGATIVE_INFINITY),
    stats: EMPTY_OUTCOME_STATISTICS,
    trajectory: null,
    conversationId: findCommon(episodes, ({ conversationId }) => conversationId) ?? 'several conversations',
    parentId: null,
    author: null,
    channel: findCommon(episodes, ({ channel }) => channel),
  };
}
