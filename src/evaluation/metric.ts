import { ValidationError } from '../core/errors.ts';
import { Registry } from '../core/registry.ts';
import { averagePrecision } from './average-precision.ts';
import { binaryPreference } from './binary-preference.ts';
import type { JudgedRanking } from './judged-ranking.ts';
import { translateMetric } from './metric-aliases.ts';
import type { MetricFamily } from './metric-family.ts';
import { ndcg, ndcgBurges } from './ndcg.ts';
import { precision, rPrecision } from './precision.ts';
import { recall, retrievedRelevant } from './recall.ts';
import { reciprocalRank } from './reciprocal-rank.ts';
import { success } from './success.ts';

/** Every metric: to add one takes its file and a line here. */
export const METRICS = new Registry<string, MetricFamily>(
  [
    reciprocalRank,
    recall,
    precision,
    averagePrecision,
    rPrecision,
    binaryPreference,
    success,
    ndcg,
    ndcgBurges,
    retrievedRelevant,
  ],
  ({ name }) => name,
);

/** A metric with its cutoff. */
export interface Metric {
  /** As configs and columns write it, for example `mrr@10`. */
  readonly id: string;
  /** A description in one sentence. */
  readonly definition: string;
  /** k, null without a cutoff. */
  readonly cutoff: number | null;
  readonly aggregate: 'mean' | 'sum';
  compute(ranking: JudgedRanking): number;
}

/** A metric's id with the intended cutoff, or with an example of one. */
function suggestMetric(name: string, cutoff: string | null): string {
  const takes = METRICS.find(name)?.cutoff;
  if (takes === 'none' || (takes === 'optional' && cutoff === null)) return name;
  return `${name}@${cutoff ?? '10'}`;
}

function findMetricFamily(id: string, name: string, cutoff: string | null): MetricFamily {
  const family = METRICS.find(name);
  if (family !== undefined) return family;
  const known = METRICS.names;
  const foreign = translateMetric(id);
  const nearest = METRICS.nearest(name.toLowerCase());
  if (foreign === undefined && nearest === undefined)
    throw new ValidationError(`unknown metric: ${id}; use one of ${known.join(', ')}`, { id, known });
  const meant = foreign ?? { name: nearest as string, cutoff };
  const hint = suggestMetric(meant.name, meant.cutoff);
  throw new ValidationError(`unknown metric: ${id}; use ${hint}`, { id, nearest: meant.name });
}

/** @returns k, infinite without a cutoff. */
function parseMetricCutoff(id: string, family: MetricFamily, cutoff: string | null): number {
  if (cutoff === null) {
    if (family.cutoff === 'required')
      throw new ValidationError(`metric has no cutoff: ${id}; use one, such as ${family.name}@10`, { id });
    return Number.POSITIVE_INFINITY;
  }
  if (family.cutoff === 'none') throw new ValidationError(`metric has no cutoffs: ${id}; use ${family.name}`, { id });
  if (!/^[1-9]\d*$/.test(cutoff))
    throw new ValidationError(
      `cutoff of a metric is not a whole number from 1: ${id}; use one, such as ${family.name}@10`,
      { id },
    );
  return Number(cutoff);
}

/** @throws ValidationError for an unknown name, naming the nearest known one, and for a cutoff that is wrong, missing or too much. */
export function parseMetric(id: string): Metric {
  const at = id.indexOf('@');
  const [name, cutoff]: [string, string | null] = at === -1 ? [id, null] : [id.slice(0, at), id.slice(at + 1)];
  const family = findMetricFamily(id, name, cutoff);
  const k = parseMetricCutoff(id, family, cutoff);
  return {
    id,
    definition: family.define(Number.isFinite(k) ? ` among the first ${k}` : '', k),
    cutoff: Number.isFinite(k) ? k : null,
    aggregate: family.aggregate,
    compute: (ranking) => family.compute(ranking, k),
  };
}

/** A metric that is a mean over the queries. @throws ValidationError as {@link parseMetric} does, and for one that is a sum. */
export function parseMean(id: string): Metric {
  const metric = parseMetric(id);
  if (metric.aggregate === 'sum')
    throw new ValidationError(`metric is a sum over the queries, not a mean: ${id}; use recall@k`, { id });
  return metric;
}
