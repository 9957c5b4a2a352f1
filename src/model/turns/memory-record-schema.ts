import { z } from 'zod';
import { isTime } from '../../core/text/format.ts';
import { attributesSchema, storedText as text } from './attributes.ts';
import { areConsistent, EMPTY_OUTCOME_STATISTICS, type MemoryRecord } from './memory-record.ts';

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

/** A record as it enters. Missing fields get their defaults: the conversation is the record itself, everything else is not known. */
export const memoryRecordSchema = fields.transform(({ conversationId, parentId, author, channel, ...record }) => ({
  ...record,
  conversationId: conversationId ?? record.id, // in its place also where it was missing, so that a record that is stored again has the same bytes
  parentId,
  author,
  channel,
})) as unknown as z.ZodType<MemoryRecord, MemoryRecordInput>;
