import { z } from 'zod';
import type { Filter, FilterVariables } from '../../model/filter/filter.ts';
import { filterSchema } from '../../model/filter/filter-schema.ts';
import { trajectorySchema } from '../../model/turns/memory-record-schema.ts';
import type { VectorSearchOptions } from '../../model/vector-index.ts';
import { outcomePool } from '../outcomes/outcome-pool.ts';

/** A question to the memory. */
export const queryBundleSchema = z.strictObject({
  /** [D] */
  embedding: z.custom<Float32Array>((value) => value instanceof Float32Array, 'a Float32Array'),
  /** The most candidates; absent: the memory's `defaultK`. */
  k: z.int().min(1).optional(),
  /** What a candidate must satisfy, as a text or a tree. */
  filter: filterSchema.optional(),
  /** What `$query.` names in the filter stand for. */
  variables: z.custom<FilterVariables>((value) => value !== null && typeof value === 'object', 'an object').optional(),
  /** The indexes to search; absent: all. */
  indexNames: z.array(z.string()).min(1).optional(),
  /** The share of the trajectory score. Records without a trajectory keep their relevance alone. */
  trajectoryWeight: z.number().min(0).max(1).default(0.3),
  /** Where the query stands; absent: trajectories have no influence. */
  trajectory: trajectorySchema.optional(),
  /** Only records strictly earlier may answer, and ages count from here. Milliseconds since 1970. Absent: all records, ages from the newest candidate. */
  asOf: z.number().optional(),
  /** True if the prior weighs candidates by their scores. */
  weighted: z.boolean().default(false),
  /** Which observations of a candidate the prior pools: its outcome, later ones, or both. */
  pool: outcomePool.default('both'),
});

/** A question to the memory, as written. */
export type QueryBundle = z.input<typeof queryBundleSchema>;
/** A question with its defaults. */
export type CheckedQuery = z.output<typeof queryBundleSchema>;

/** The filter of a query together with its time. */
export function buildVisibility({
  filter,
  variables,
  asOf,
}: CheckedQuery): Pick<VectorSearchOptions, 'filter' | 'variables'> {
  const parts: Filter[] = filter === undefined ? [] : [filter];
  if (asOf !== undefined) parts.push({ op: '<', field: 'timestamp', value: asOf });
  const [first, second] = parts;
  if (first === undefined) return {};
  const combined: Filter = second === undefined ? first : { op: 'and', of: parts };
  return variables === undefined ? { filter: combined } : { filter: combined, variables };
}
