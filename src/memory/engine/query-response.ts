import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import {
  attachDisplay,
  buildTableBundle,
  joinBundles,
  phrase,
  type ShownRow,
  stateShown,
} from '../../core/display/display.ts';
import { QueryTimeoutError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Filter, FilterVariables } from '../../model/filter/filter.ts';
import { filterSchema } from '../../model/filter/filter-schema.ts';
import { attributesSchema } from '../../model/turns/memory-fields.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import { trajectorySchema } from '../../model/turns/turn.ts';
import type { VectorSearchOptions } from '../../model/vector-index.ts';
import { outcomePool } from '../outcomes/outcome-statistics.ts';
import type { PriorBundle } from '../outcomes/prior-bundle.ts';

/** A question to the memory. */
export const queryBundleSchema = z.strictObject({
  /** [D] */
  embedding: z.custom<Float32Array>((value) => value instanceof Float32Array, 'a Float32Array'),
  /** The most candidates; absent: the memory's `defaultK`. */
  k: z.int().min(1).optional(),
  /** The filter that a candidate must satisfy, as a text or a tree. */
  filter: filterSchema.optional(),
  /** The values of `$query.` names in the filter. */
  variables: z.custom<FilterVariables>((value) => value !== null && typeof value === 'object', 'an object').optional(),
  /** The indexes to search; absent: all. */
  indexNames: z.array(z.string()).min(1).optional(),
  /** The share of the trajectory score. Records without a trajectory keep their relevance alone. */
  trajectoryWeight: z.number().min(0).max(1).default(0.3),
  /** The coordinates of the query; absent: trajectories have no influence. */
  trajectory: trajectorySchema.optional(),
  /**
   * Only records strictly earlier may answer, and ages count from here. Milliseconds since 1970. Absent: all records,
   * ages from the newest candidate.
   */
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

/** The number of answers that are kept, and their lifetime. */
export interface QueryCacheOptions {
  readonly maxEntries: number;
  readonly ttlSeconds: number;
  readonly enabled: boolean;
}

/** A clock in milliseconds that never goes back. */
export interface Clock {
  now(): number;
}

/**
 * The latest answers by query. The key covers the state of the store, its sequence: an answer from before a write is
 * never given after it. The least recently used answer makes place for a new one.
 */
export class QueryCache<Answer extends object> {
  readonly #answers: LRUCache<string, Answer> | null;

  constructor({ maxEntries, ttlSeconds, enabled }: QueryCacheOptions, clock: Clock = performance) {
    this.#answers = enabled
      ? new LRUCache({ max: maxEntries, ttl: ttlSeconds * 1000, ttlResolution: 0, perf: clock })
      : null;
  }

  /** The number of answers that are kept. */
  get size(): number {
    return this.#answers?.size ?? 0;
  }

  /** Removes every answer. */
  clear(): void {
    this.#answers?.clear();
  }

  /**
   * The answer to a query, computed if it is not kept. An error is not kept.
   *
   * @param query plain values and typed arrays: what the answer depends on, besides the store.
   */
  async answer(query: unknown, sequence: number, compute: () => Promise<Answer>): Promise<Answer> {
    const answers = this.#answers;
    if (answers === null) return compute();
    const key = computeHash({ query, sequence });
    const kept = answers.get(key);
    if (kept !== undefined) return kept;
    const answer = await compute();
    answers.set(key, answer);
    return answer;
  }
}

/** Where an index found a candidate. */
export interface CandidateProvenance {
  readonly index: string;
  /** From 1. */
  readonly rank: number;
  readonly score: number;
}

/** A record that answers a query. */
export interface RankedCandidate {
  readonly recordId: string;
  /** Place in the answer, from 1. */
  readonly rank: number;
  /** What ranks: relevance, mixed with the trajectory score, reranked. */
  readonly score: number;
  /** To the query, in the first index that found it; see `Distance` of the index. */
  readonly distance: number;
  /** The score of that index alone, higher is better. */
  readonly semanticScore: number;
  /** exp(-distance of coordinates), in (0, 1]; null if the query or the record has no trajectory. */
  readonly trajectoryScore: number | null;
  /** Every index that found it, in the order of their names in the query. */
  readonly provenance: readonly CandidateProvenance[];
}

/** The answer to a query. */
export interface QueryResponse {
  /** Over the outcomes of the candidates. */
  readonly prior: PriorBundle;
  /** Best first. */
  readonly candidates: readonly RankedCandidate[];
  /** Milliseconds from question to answer; the one figure that depends on the machine. */
  readonly latency: number;
  readonly indexesSearched: readonly string[];
}

/** The prior as a row of a table. */
function buildPriorRow({ count, mean, variance, min, max, confidence, interval }: PriorBundle): ShownRow {
  const [low, high] = interval ?? [null, null];
  return { count, mean, low, high, variance, min, max, confidence };
}

/** Lets a notebook show an answer: the prior as a row, and its candidates. @returns the same object. */
export function displayResponse(response: QueryResponse): QueryResponse {
  return attachDisplay(response, ({ prior, candidates, indexesSearched }) =>
    joinBundles([
      buildTableBundle([buildPriorRow(prior)], { caption: phrase`prior over the outcomes of the candidates` }),
      buildTableBundle(
        candidates.map(({ rank, recordId, score, distance, semanticScore, trajectoryScore }) => ({
          rank,
          record: stateShown(recordId),
          score,
          distance,
          'semantic score': semanticScore,
          ...(trajectoryScore === null ? {} : { 'trajectory score': trajectoryScore }),
        })),
        { caption: phrase`${candidates.length} candidates, found in ${stateShown(indexesSearched.join(', '))}` },
      ),
    ]),
  );
}

const text = z.string();

/** A question to the arm of a memory. */
export const armQuestionSchema = z.strictObject({
  text: text.regex(/\S/, 'a question with at least one letter'),
  /** By which an encoder that looks vectors up finds that of the question. */
  id: text.min(1).optional(),
  /** The most records; absent: the depth of the arm. */
  k: z.int().min(1).optional(),
  /** Only records strictly earlier may answer. Milliseconds since 1970. Absent: all. */
  asOf: z.number().optional(),
  author: text.nullable().default(null),
  channel: text.nullable().default(null),
  /** The one conversation whose records may answer; absent: all. */
  conversationId: text.optional(),
  /** The newest record of the conversation before the question, if that is known. */
  anchorTurnId: text.nullable().default(null),
  /** For filters, as `$query.` names. */
  attributes: attributesSchema.optional(),
  /** True if the prior weighs records by their scores. */
  weighted: z.boolean().default(false),
  /**
   * Which observations of a record are its outcome, for the prior and for the steps of the arm: that of its making,
   * later ones, or both.
   */
  pool: outcomePool.default('both'),
});
/** A question to the arm of a memory, as written. */
export type ArmQuestion = z.input<typeof armQuestionSchema>;
/** A question with its defaults. */
export type CheckedQuestion = z.output<typeof armQuestionSchema>;

/** A record in the ranking of an arm. */
export interface ArmRanked extends Scored {
  /** The parts of the score by name, in the order in which the steps of the arm made them. */
  readonly parts: Readonly<Record<string, number>>;
}

/** The ranking of an arm. */
export interface RankedRecords {
  /** Its name. */
  readonly arm: string;
  /** The number of changes of the memory that the ranking knows. */
  readonly sequence: number;
  /** The moment of the question in milliseconds since 1970. */
  readonly asOf: number;
  /** Best first. */
  readonly ranking: readonly ArmRanked[];
}

/**
 * Runs the work of a query within the time that it may take.
 *
 * @param work stops soon after its signal is aborted.
 * @throws QueryTimeoutError beyond the time, whether the work has stopped or not; and what the work throws.
 */
export async function runInTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const start = performance.now();
  const createTimeout = () => new QueryTimeoutError(performance.now() - start, timeoutMs);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(createTimeout()), timeoutMs);
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true });
  });
  try {
    const result = await Promise.race([work(controller.signal), ended]);
    if (performance.now() - start > timeoutMs) throw createTimeout(); // a search that did not let the timer run
    return result;
  } finally {
    clearTimeout(timer);
  }
}
