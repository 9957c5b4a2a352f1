import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import type { JudgedRanking } from '../../eval/metrics/judged-ranking.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import { computeMissedOffsets, type FeatureTable } from './feature-table.ts';

/** The metric of early stopping and searches. */
export const VALIDATION_METRIC = 'ndcg@10';

/** A metric of the rankings that scores of a table's candidates give. */
export interface TableMetric {
  readonly id: string;
  /**
   * @param scores row-major [Q, C]; values at padding have no meaning
   * @returns [Q] in float64
   * @throws NotFiniteError naming query and place.
   */
  values(scores: ArrayLike<number>): Float64Array;
  /** Their mean over the queries. */
  mean(scores: ArrayLike<number>): number;
}

/** The judgements of a query over its candidates and missed turns. */
type Judged = Omit<JudgedRanking, 'grades'>;

function judgeRow(table: FeatureTable, query: number, missed: Float32Array): Judged {
  const { width, relevantGrade } = table;
  const own = table.grades.subarray(query * width, (query + 1) * width);
  const judged = Float64Array.from([...own, ...missed].filter((grade) => grade > 0)).sort((a, b) => b - a);
  const relevant = judged.filter((grade) => grade >= relevantGrade).length;
  return {
    idealGrades: judged,
    relevantGrade,
    relevant,
    nonrelevant: judged.length - relevant,
    highestGrade: null,
    tokens: null,
  };
}

/** The places of a row's best candidates, equal scores in the order of their places; returns how many there are. O(C) when scores come in no order. */
export function findBestPlaces(
  scores: ArrayLike<number>,
  mask: Uint8Array,
  start: number,
  end: number,
  best: Int32Array,
): number {
  let count = 0;
  for (let slot = start; slot < end; slot++) {
    if (mask[slot] === 0) continue;
    const score = scores[slot] as number;
    if (count === best.length && !(score > (scores[best[count - 1]!] as number))) continue;
    let at = count < best.length ? count++ : count - 1;
    for (; at > 0 && score > (scores[best[at - 1]!] as number); at--) best[at] = best[at - 1]!;
    best[at] = slot;
  }
  return count;
}

function assertFinite({ queryIds, width, mask }: FeatureTable, scores: ArrayLike<number>): void {
  if (scores.length !== mask.length)
    throw new DimensionMismatchError('scores of the feature table', mask.length, scores.length);
  for (let pair = 0; pair < mask.length; pair++) {
    if (mask[pair] === 0 || Number.isFinite(scores[pair])) continue;
    const where = `query ${queryIds[Math.floor(pair / width)]}, place ${pair % width}`;
    throw new NotFiniteError('score', where, scores[pair] as number);
  }
}

/**
 * A metric by its name, for many scorings of one table: what does not depend on scores is computed once. Relevant turns that the pool misses count in the ideal
 * ranking and as not found. Scores order as everywhere: descending, then by place in the row.
 *
 * @throws ValidationError for a metric without a cutoff: a table holds pools, not whole rankings.
 */
export function createTableMetric(table: FeatureTable, id: string = VALIDATION_METRIC): TableMetric {
  const metric = parseMetric(id);
  if (metric.cutoff === null)
    throw new ValidationError(`metric of a feature table has no cutoff: ${id}; use one, such as ndcg@10`, { id });
  const { width, mask, grades } = table;
  const offsets = computeMissedOffsets(table.missed);
  const judged = table.queryIds.map((_, query) =>
    judgeRow(table, query, table.missedGrades.subarray(offsets[query], offsets[query + 1])),
  );
  const best = new Int32Array(Math.min(metric.cutoff, width));
  const computeQueryValue = (scores: ArrayLike<number>, query: number) => {
    const count = findBestPlaces(scores, mask, query * width, (query + 1) * width, best);
    const ranked = Float64Array.from(best.subarray(0, count), (slot) => grades[slot] as number);
    return metric.compute({ ...(judged[query] as Judged), grades: ranked });
  };
  const computeQueryValues = (scores: ArrayLike<number>) => {
    assertFinite(table, scores);
    return Float64Array.from(judged, (_, query) => computeQueryValue(scores, query));
  };
  const mean = (scores: ArrayLike<number>) => {
    const all = computeQueryValues(scores);
    return all.length === 0 ? 0 : all.reduce((sum, value) => sum + value, 0) / all.length;
  };
  return { id, values: computeQueryValues, mean };
}
