import type { JudgedRanking } from './judged-ranking.ts';

/** A metric before its cutoff is known. */
export interface MetricFamily {
  /** The name in configs, before the `@`. */
  readonly name: string;
  /** One line for people. */
  readonly description: string;
  /** Whether `name@k` and `name` exist. */
  readonly cutoff: 'required' | 'optional' | 'none';
  /** How the values of the queries are combined, as in trec_eval. */
  readonly aggregate: 'mean' | 'sum';
  /** One sentence; `within` is a phrase such as ` among the first 10`, or empty without a cutoff. */
  define(within: string, k: number): string;
  /** The value for one query. @param k infinite without a cutoff. */
  compute(ranking: JudgedRanking, k: number): number;
}
