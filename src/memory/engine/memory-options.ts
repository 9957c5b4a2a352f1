import { z } from 'zod';
import { vectorIndexOptions } from '../../index/vectors/registry.ts';
import { fusionOptions } from '../../ops/fusion/registry.ts';
import { conservationOptions } from '../conservation/conservation-options.ts';
import { outcomeRange } from '../outcomes/outcome-statistics.ts';
import { PRIOR_KAPPA } from '../outcomes/prior-bundle.ts';
import { rerankerOptions } from './rerankers.ts';

/** Milliseconds: a timer of Node for longer ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Answers that are kept. */
const cacheOptions = z.strictObject({
  maxEntries: z.int().min(1).default(10_000),
  ttlSeconds: z.number().positive().default(300),
  enabled: z.boolean().default(true),
});

/** Everything that a memory is opened with. */
export const memoryOptions = z.strictObject({
  /** Where writes are kept; null: in this process alone. */
  folder: z.string().min(1).nullable().default(null),
  /**
   * The folder is read as it is, also while another process writes to it, and nothing is written: every change is an
   * error.
   */
  readOnly: z.boolean().default(false),
  /** D of every embedding. */
  dimension: z.int().min(1),
  /** Vector indexes by name. */
  indexes: z
    .record(z.string().min(1), vectorIndexOptions)
    .default(() => ({ main: vectorIndexOptions.parse({ index: 'flat' }) })),
  /** Candidates of a query that gives no k. */
  defaultK: z.int().min(1).default(10),
  /** What each index finds where fusion, trajectories or a reranker may change the order; at least k. */
  poolSize: z.int().min(1).default(100),
  timeoutMs: z.number().positive().max(LONGEST_TIMER).default(1000),
  /** Of what several indexes find. */
  fusion: fusionOptions.prefault({ method: 'rrf' }),
  reranker: rerankerOptions.nullable().default(null),
  /** The count of outcomes at which the confidence of a prior is one half. */
  kappa: z.number().positive().default(PRIOR_KAPPA),
  /** Bounds of outcomes, and of the interval of a prior. Outcomes beyond bounds that are numbers are refused. */
  outcomeRange: outcomeRange.default('unit'),
  /** Records that come without a trajectory get the coordinates that they have in their conversation. */
  coordinates: z.boolean().default(false),
  /** The salience of records, and the treatment of a change that breaks a law of conservation. */
  conservation: conservationOptions.prefault({}),
  cache: cacheOptions.prefault({}),
  /** When writes reach the disk: before they are acknowledged, at intervals, or when the system chooses. */
  fsync: z.enum(['always', 'interval', 'never']).default('always'),
  /**
   * Keeps every version of a record that is replaced, removed or gets an outcome, so that the memory can be opened as it
   * was at a moment. A folder that has a history keeps it without this option too.
   */
  history: z.boolean().default(false),
  /** Gives the time of each change of the history, in milliseconds since 1970. */
  clock: z.custom<() => number>((value) => typeof value === 'function', 'a function').default(() => Date.now),
  /** A snapshot is written once the journal has this size, and at least that of the last snapshot; null: when it is asked for. */
  snapshotBytes: z.int().min(1).nullable().default(null),
});

/** The options of a memory as written: all but the dimension may be left out. */
export type MemoryInput = z.input<typeof memoryOptions>;
/** The options of a memory, with every default written out. */
export type MemoryOptions = z.output<typeof memoryOptions>;
