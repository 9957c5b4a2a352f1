import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { MEMORY_SOURCES, type MemorySource } from '../../index/memories/memory-options.ts';
import { indexOptions } from '../../index/registry.ts';
import type { FilterVariables } from '../../model/filter/filter.ts';
import { filterSchema } from '../../model/filter/filter-schema.ts';
import { DUPLICATE_COSINE } from '../../ops/selection/selection.ts';
import { selectionOptions } from '../../rank/rerank/registry.ts';
import { strategyOptions } from '../../rank/signals/signal-options.ts';

const limits = Object.fromEntries(
  MEMORY_SOURCES.map((index) => {
    const { k } = parse(indexOptions, { index }, 'a source of memories');
    return [index, z.int().min(0).default(k)];
  }),
) as Record<MemorySource, z.ZodDefault<z.ZodInt>>;

/** How memories and documents are found. */
export const memorySourcesSchema = z.strictObject({
  /** The most candidates of each source; 0 leaves a source out. */
  limits: z.strictObject(limits).prefault({}),
  /** The least cosine of the source `semantic`. */
  minCosine: z.number().min(-1).max(1).default(0.5),
  /** Only turns that this accepts, such as `userId = $query.userId`. */
  filter: filterSchema.nullable().default(null),
  /** What `$query.` names in the filter stand for. */
  variables: z.record(z.string(), z.custom<FilterVariables[string]>()).default({}),
  strategy: strategyOptions.prefault({}),
  selection: selectionOptions.prefault({ method: 'diversity-filter', duplicateAbove: DUPLICATE_COSINE }),
  /** The fewest and the most memories of an answer. */
  least: z.int().min(0).default(5),
  most: z.int().min(1).default(15),
  /** The time zone in which times of questions are read. */
  timeZone: z.string().default('UTC'),
  /** Each of the five is left out if it takes longer. */
  timeoutMs: z.int().min(1).default(500),
});
/** See {@link memorySourcesSchema}. */
export type MemorySourcesOptions = z.output<typeof memorySourcesSchema>;
/** The same as one writes it: what has a default may be missing. */
export type MemorySourcesInput = z.input<typeof memorySourcesSchema>;
