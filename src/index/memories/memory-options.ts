import { z } from 'zod';
import { formatFilter, readWrittenFilter, writtenFilter } from '../../model/filter/filter-schema.ts';
import { FACT_CLOSERS } from '../../model/turns/memory-fields.ts';
import type { IndexDefinition } from '../candidates/index-definition.ts';

/** The names of the sources of memories that a prompt is made of. */
export const MEMORY_SOURCES = Object.freeze(['semantic', 'entities', 'time', 'procedural', 'summaries'] as const);
/** One of {@link MEMORY_SOURCES}. */
export type MemorySource = (typeof MEMORY_SOURCES)[number];

/** The text of a filter in one form, so that equal filters have equal keys. */
const sourceFilter = writtenFilter
  .transform((input, context): string => {
    const filter = readWrittenFilter(input, context);
    return context.issues.length > 0 ? z.NEVER : formatFilter(filter);
  })
  .nullable()
  .default(null);

/** The most candidates of a source. */
const count = z.int().min(1);

const options = {
  semantic: z.strictObject({
    index: z.literal('semantic'),
    k: count.default(50),
    filter: sourceFilter,
    /** Turns with a lower cosine are no candidates. */
    minCosine: z.number().min(-1).max(1).default(0.5),
  }),
  entities: z.strictObject({ index: z.literal('entities'), k: count.default(30), filter: sourceFilter }),
  time: z.strictObject({ index: z.literal('time'), k: count.default(30), filter: sourceFilter }),
  procedural: z.strictObject({ index: z.literal('procedural'), k: count.default(20), filter: sourceFilter }),
  summaries: z.strictObject({ index: z.literal('summaries'), k: count.default(5), filter: sourceFilter }),
  facts: z.strictObject({
    index: z.literal('facts'),
    k: count.default(30),
    filter: sourceFilter,
    /** Whose later statement closes a fact. */
    closedBy: z.enum(FACT_CLOSERS).default('anyone'),
  }),
  domain: z.strictObject({
    index: z.literal('domain'),
    /** A domain: ontology and queries, which `readDomain` checks. */
    domain: z.record(z.string(), z.unknown()),
    /** A file of DuckDB. */
    database: z.string().min(1),
    k: count.default(30),
    filter: sourceFilter,
    /** Hash of the content of the database, as that of a run file. */
    hash: z.string().optional(),
  }),
};
/** The records of a database as a source of the turns that name them. */
export type DomainIndexOptions = z.output<typeof options.domain>;

export const semantic: IndexDefinition<typeof options.semantic> = {
  options: options.semantic,
  reads: ['vectors', 'times', 'attributes'],
  description: 'memories whose cosine with the question is high enough, exactly',
};

export const entities: IndexDefinition<typeof options.entities> = {
  options: options.entities,
  reads: ['texts', 'times', 'attributes'],
  description: 'memories of what the question names: most matches, then importance, then the newest',
};

export const time: IndexDefinition<typeof options.time> = {
  options: options.time,
  reads: ['texts', 'times', 'attributes'],
  description: 'the newest memories of the time that the question is about',
};

export const procedural: IndexDefinition<typeof options.procedural> = {
  options: options.procedural,
  reads: ['texts', 'vectors', 'times', 'attributes'],
  description: 'the procedures nearest by cosine, if the question is about a process',
};

export const summaries: IndexDefinition<typeof options.summaries> = {
  options: options.summaries,
  reads: ['texts', 'times', 'attributes'],
  description: 'the newest summaries: of sessions if the question is about a time, else global',
};

export const facts: IndexDefinition<typeof options.facts> = {
  options: options.facts,
  reads: ['texts', 'times', 'attributes'],
  description: 'facts about what the question names that hold at its moment, or held in the time that it is about',
};

export const domain: IndexDefinition<typeof options.domain> = {
  options: options.domain,
  reads: ['texts', 'times', 'attributes'],
  description: 'turns that name the records which the question finds in a database',
};
