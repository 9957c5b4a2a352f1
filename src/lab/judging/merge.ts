import { ValidationError } from '../../core/errors/errors.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Judgement, PairToJudge } from '../../model/dataset.ts';
import type { Qrels } from '../../model/run.ts';

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
