import { ValidationError } from '../../core/errors/errors.ts';
import { Registry } from '../../core/validation/registry.ts';
import { allEvidence } from './all-evidence.ts';
import { averagePrecision } from './average-precision.ts';
import { binaryPreference } from './binary-preference.ts';
import { expectedReciprocalRank } from './expected-reciprocal-rank.ts';
import { countRanksWithin, type JudgedRanking, withRelevantGrade } from './judged-ranking.ts';
import { translateMetric } from './metric-aliases.ts';
import type { MetricFamily } from './metric-family.ts';
import { type MetricParts, splitMetricId } from './metric-id.ts';
import { ndcg, ndcgBurges } from './ndcg.ts';
import { precision, rPrecision } from './precision.ts';
import { rankBiasedPrecision } from './rank-biased-precision.ts';
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
    allEvidence,
    ndcg,
    ndcgBurges,
    rankBiasedPrecision,
    expectedReciprocalRank,
    retrievedRelevant,
  ],
  ({ name }) => name,
);

/** A metric with its cutoff. */
export interface Metric {
  /** As configs and columns write it, for example `mrr@10`; a name of another program in the spelling used here. */
  readonly id: string;
  /** A description in one sentence. */
  readonly definition: string;
  /** k in ranks, null without a cutoff. */
  readonly cutoff: number | null;
  /** The budget of `recall@500t` in tokens, null without one. */
  readonly tokenBudget: number | null;
  /** The lowest relevant grade that the name states, as `map(rel=2)` does; null where the data's own counts. */
  readonly relevantGrade: number | null;
  /** True if the highest grade of the scale affects the value. */
  readonly readsScale: boolean;
  readonly aggregate: 'mean' | 'sum';
  /** @throws ValidationError for a token budget if the tokens of the ranking are unknown. */
  compute(ranking: JudgedRanking): number;
}

function findMetricFamily(id: string, name: string): MetricFamily {
  const family = METRICS.find(name);
  if (family !== undefined) return family;
  const nearest = METRICS.nearest(name.toLowerCase());
  const known = METRICS.names;
  if (nearest === undefined)
    throw new ValidationError(`unknown metric: ${id}; use one of ${known.join(', ')}`, { id, known });
  throw new ValidationError(`unknown metric: ${id}; use ${suggestMetric(id, nearest)}`, { id, nearest });
}

/** A metric's id with the intended cutoff, or with an example of one. */
function suggestMetric(id: string, name: string): string {
  const { cutoff } = splitMetricId(id);
  const { cutoff: takes, parameter } = METRICS.find(name) as MetricFamily;
  const start = parameter === undefined ? name : `${name}(${parameter.example})`;
  if (takes === 'none' || (takes === 'optional' && cutoff === null)) return start;
  return `${start}@${cutoff ?? '10'}`;
}

interface Cutoff {
  /** Infinite without a cutoff. */
  readonly value: number;
  readonly unit: 'ranks' | 'tokens';
}

function parseCutoff(id: string, { name, cutoff: takes, ranksOnly }: MetricFamily, cutoff: string | null): Cutoff {
  if (cutoff === null) {
    if (takes === 'required')
      throw new ValidationError(`metric has no cutoff: ${id}; use one, such as ${name}@10`, { id });
    return { value: Number.POSITIVE_INFINITY, unit: 'ranks' };
  }
  if (takes === 'none') throw new ValidationError(`metric has no cutoffs: ${id}; use ${name}`, { id });
  const [, digits, unit] = /^([1-9]\d*)(t?)$/.exec(cutoff) ?? [];
  if (digits === undefined)
    throw new ValidationError(
      `cutoff of a metric is not a whole number from 1, or tokens such as 500t: ${id}; use one, such as ${name}@10`,
      { id },
    );
  if (unit === 't' && ranksOnly)
    throw new ValidationError(`metric has no token budget: ${id}; use ranks, such as ${name}@10`, { id });
  return { value: Number(digits), unit: unit === 't' ? 'tokens' : 'ranks' };
}

/** `0.8`, or `p=0.8`. */
function readNumber(entry: string): number {
  return Number(entry.replace(/^p=/, ''));
}

/** Reads the entries in brackets: the parameter of the metric, and `rel=2`. */
function parseEntries(id: string, { name, parameter, graded }: MetricFamily, entries: readonly string[]) {
  let relevantGrade: number | null = null;
  let value = Number.NaN;
  for (const entry of entries) {
    const [, grade] = /^rel=(\d+)$/.exec(entry) ?? [];
    if (grade !== undefined && graded)
      throw new ValidationError(`metric uses grades and has no rel: ${id}; use ${name}`, { id });
    if (grade !== undefined && Number(grade) > 0 && relevantGrade === null) relevantGrade = Number(grade);
    else if (grade === undefined && parameter?.accepts(readNumber(entry)) && Number.isNaN(value))
      value = readNumber(entry);
    else {
      const example = parameter === undefined ? `${name}(rel=2)` : `${name}(${parameter.example})`;
      throw new ValidationError(
        `metric does not take ${entry}: ${id}; use ${graded ? name : `${name} or ${example}`}`,
        {
          id,
          entry,
        },
      );
    }
  }
  if (parameter !== undefined && Number.isNaN(value))
    throw new ValidationError(
      `metric has no ${parameter.name}, ${parameter.range}: ${id}; use one, such as ${name}(${parameter.example})`,
      { id },
    );
  return { relevantGrade, value };
}

function describeReach({ value, unit }: Cutoff): string {
  if (!Number.isFinite(value)) return '';
  return unit === 'ranks' ? ` among the first ${value}` : ` within the first ${value} tokens`;
}

function formatMetricId(name: string, value: number, relevantGrade: number | null, cutoff: string | null): string {
  const entries = [
    ...(Number.isNaN(value) ? [] : [String(value)]),
    ...(relevantGrade === null ? [] : [`rel=${relevantGrade}`]),
  ];
  return `${name}${entries.length === 0 ? '' : `(${entries.join(',')})`}${cutoff === null ? '' : `@${cutoff}`}`;
}

/**
 * The prefix that fits a token budget, as a whole ranking. The best possible ranking that nDCG divides by keeps its length: it is then the same for every
 * system, however many documents of a system fit.
 */
function cutAtBudget(id: string, ranking: JudgedRanking, budget: number): JudgedRanking {
  const { tokens, grades } = ranking;
  if (tokens === null)
    throw new ValidationError(`metric needs the tokens of each document: ${id}; pass tokens to the evaluation`, { id });
  const k = countRanksWithin(tokens, budget);
  return { ...ranking, grades: grades.subarray(0, k), tokens: tokens.subarray(0, k) };
}

function buildMetric(id: string, { name, entries, cutoff: written }: MetricParts): Metric {
  const family = findMetricFamily(id, name);
  const cutoff = parseCutoff(id, family, written);
  const { relevantGrade, value } = parseEntries(id, family, entries);
  const own = formatMetricId(name, value, relevantGrade, written);
  const reach = Number.isFinite(cutoff.value) ? cutoff.value : null;
  return {
    id: own,
    definition: family.define(describeReach(cutoff), cutoff.value, value),
    cutoff: cutoff.unit === 'ranks' ? reach : null,
    tokenBudget: cutoff.unit === 'tokens' ? reach : null,
    relevantGrade,
    readsScale: family.readsScale ?? false,
    aggregate: family.aggregate,
    compute: (ranking) => {
      const graded = relevantGrade === null ? ranking : withRelevantGrade(ranking, relevantGrade);
      return cutoff.unit === 'ranks'
        ? family.compute(graded, cutoff.value, value)
        : family.compute(cutAtBudget(own, graded, cutoff.value), Number.POSITIVE_INFINITY, value);
    },
  };
}

/**
 * The metric of a name: `ndcg@10`, `recall@500t` (within a budget of tokens), `rbp(0.8)`, `map(rel=2)`. Names of trec_eval, ir_measures and ranx are translated.
 *
 * @throws ValidationError for an unknown name, naming the nearest known one; for a cutoff that is wrong, missing or too much; and for a name that means
 * something else in the program that it comes from.
 */
export function parseMetric(id: string): Metric {
  const parts = splitMetricId(id);
  if (METRICS.find(parts.name) !== undefined) return buildMetric(id, parts);
  return buildMetric(id, splitMetricId(translateMetric(id) ?? id));
}

/** A metric that is a mean over the queries. @throws ValidationError as {@link parseMetric} does, and for one that is a sum. */
export function parseMean(id: string): Metric {
  const metric = parseMetric(id);
  if (metric.aggregate === 'sum')
    throw new ValidationError(`metric is a sum over the queries, not a mean: ${id}; use recall@k`, { id });
  return metric;
}
