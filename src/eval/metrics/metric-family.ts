import type { JudgedRanking } from './judged-ranking.ts';

/** A number in brackets behind the name of a metric, as in `rbp(0.8)`. */
export interface MetricParameter {
  readonly name: string;
  /** Which numbers are accepted, in words. */
  readonly range: string;
  readonly example: number;
  accepts(value: number): boolean;
}

/** A metric before its cutoff is known. */
export interface MetricFamily {
  /** The name in configs, before the `@`. */
  readonly name: string;
  /** One line for people. */
  readonly description: string;
  /** True if `name@k` and `name` exist. */
  readonly cutoff: 'required' | 'optional' | 'none';
  /** True if the cutoff cannot be a budget of tokens: the metric divides by k. */
  readonly ranksOnly?: true;
  /** True if the metric uses grades, so that `rel`, a lowest relevant grade of its own, has no meaning. */
  readonly graded?: true;
  /** True if the metric needs the highest grade of the scale. */
  readonly readsScale?: true;
  readonly parameter?: MetricParameter;
  /** How the values of the queries are combined, as in trec_eval. */
  readonly aggregate: 'mean' | 'sum';
  /** One sentence; `within` is a phrase such as ` among the first 10`, or empty without a cutoff. @param parameter NaN for a family without one. */
  define(within: string, k: number, parameter?: number): string;
  /** The value for one query. @param k ranks; infinite without a cutoff. @param parameter NaN without one. */
  compute(ranking: JudgedRanking, k: number, parameter?: number): number;
}
