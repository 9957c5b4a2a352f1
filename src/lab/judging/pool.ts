import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Judgement, PairToJudge } from '../../model/dataset.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';

/** The judgements of several judges as one set. */
export interface MergedJudgements {
  /** One for each judged pair, in the order of the pool. */
  readonly judgements: readonly Judgement[];
  /** Pairs of the pool without a judgement. */
  readonly holes: readonly PairToJudge[];
  /** Pairs that more than one judge judged, and those of them with different grades. */
  readonly repeated: number;
  readonly differing: number;
}

const formatKey = (queryId: string, id: string) => JSON.stringify([queryId, id]);

/**
 * Merges the judgements of a pool. Of several judgements of a pair that of the earlier list counts.
 *
 * @throws ValidationError for a judgement of a pair that the pool does not hold.
 */
export function mergeJudgements(
  lists: readonly (readonly Judgement[])[],
  pool: readonly PairToJudge[],
): MergedJudgements {
  const given = new Map<string, Judgement[]>(pool.map(({ queryId, id }) => [formatKey(queryId, id), []]));
  for (const judgement of lists.flat()) {
    const { queryId, id, judge } = judgement;
    const held = given.get(formatKey(queryId, id));
    if (held === undefined)
      throw new ValidationError(
        `judge ${judge} judged document ${id} for query ${queryId}, which the pool does not hold; name the pool that was judged`,
        { queryId, id, judge },
      );
    held.push(judgement);
  }
  const several = [...given.values()].filter((held) => held.length > 1);
  return {
    judgements: [...given.values()].flatMap(([first]) => (first === undefined ? [] : [first])),
    holes: pool.filter(({ queryId, id }) => given.get(formatKey(queryId, id))?.length === 0),
    repeated: several.length,
    differing: several.filter((held) => held.some(({ grade }) => grade !== held[0]?.grade)).length,
  };
}

/** The judgements of several judges as qrels; of several grades of a pair that of the earlier list counts. */
export function buildQrels(lists: readonly (readonly Judgement[])[]): Qrels {
  const qrels = new Map<string, Map<string, number>>();
  for (const { queryId, id, grade } of lists.flat()) {
    const row = getOrCompute(qrels, queryId, () => new Map<string, number>());
    if (!row.has(id)) row.set(id, grade);
  }
  return qrels;
}

/** A query and a document that some system ranked for it. */
export interface PooledPair {
  readonly queryId: string;
  readonly id: string;
}

/** How deep {@link poolRuns} reads, and what it leaves out. */
export interface PoolOptions {
  /** Documents of each ranking. */
  readonly depth: number;
  /** Of the order. */
  readonly seed: number;
  /** Pairs that need no judgement. */
  readonly judged?: Qrels;
}

/**
 * Sorts by hashes of seed and key: an order that depends on nothing else, so that it shows neither the source nor the
 * place of an item, and that stays when items are added.
 */
export function sortByHash<T>(items: readonly T[], seed: number, getKey: (item: T) => readonly string[]): T[] {
  return items
    .map((item) => ({ item, hash: computeHash([seed, ...getKey(item)]) }))
    .sort((a, b) => compareBytes(a.hash, b.hash))
    .map(({ item }) => item);
}

/**
 * The documents to judge: the union of the first `depth` documents of every run, each once, grouped by query. The order
 * of queries and of documents is that of {@link sortByHash}. Source: buckley2007pooling.
 *
 * @param runs best first by the tie rule.
 * @throws ValidationError without a run, and for a depth that is no whole number from 1.
 */
export function poolRuns(runs: readonly Run[], { depth, seed, judged }: PoolOptions): PooledPair[] {
  if (runs.length === 0) throw new ValidationError('no run to pool; name at least 1 run');
  if (!(Number.isInteger(depth) && depth > 0))
    throw new ValidationError(`depth of a pool is not a whole number from 1: ${depth}; pass a rank`, { depth });
  const pooled = new Map<string, Set<string>>();
  for (const run of runs)
    for (const [queryId, ranking] of run) {
      const ids = getOrCompute(pooled, queryId, () => new Set<string>());
      for (const { id } of ranking.slice(0, depth)) if (judged?.get(queryId)?.has(id) !== true) ids.add(id);
    }
  return sortByHash([...pooled.keys()], seed, (queryId) => [queryId]).flatMap((queryId) =>
    sortByHash([...(pooled.get(queryId) as Set<string>)], seed, (id) => [queryId, id]).map((id) => ({ queryId, id })),
  );
}

/** Options of {@link sampleByStratum}. */
interface SampleOptions<T> {
  /** The share of each stratum, above 0 and at most 1. */
  readonly share: number;
  readonly seed: number;
  getStratum(item: T): string;
  /** The id of an item. */
  getKey(item: T): readonly string[];
}

/** Below the rounding of a product such as 0.07 x 100. */
const ROUNDING = 1e-9;

/**
 * Draws a share of every stratum, rounded up, so that each has at least one item. The draw depends on the seed and the
 * keys alone: a larger share holds a smaller one.
 *
 * @returns the drawn items in the order of their hashes.
 * @throws ValidationError for a share that is not above 0 and at most 1.
 */
export function sampleByStratum<T>(items: readonly T[], options: SampleOptions<T>): T[] {
  const { share, seed, getStratum, getKey } = options;
  if (!(share > 0 && share <= 1))
    throw new ValidationError(`share of a sample is not above 0 and at most 1: ${share}; pass one such as 0.2`, {
      share,
    });
  const left = new Map<string, number>();
  for (const item of items) left.set(getStratum(item), (left.get(getStratum(item)) ?? 0) + 1);
  for (const [stratum, count] of left) left.set(stratum, Math.ceil(share * count - ROUNDING));
  const drawKey = (item: T) => ['sample', ...getKey(item)];
  return sortByHash(items, seed, drawKey).filter((item) => {
    const stratum = getStratum(item);
    const rest = left.get(stratum) as number;
    left.set(stratum, rest - 1);
    return rest > 0;
  });
}
