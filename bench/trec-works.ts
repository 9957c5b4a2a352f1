import type { EvaluationOptions } from '../src/eval/metrics/evaluate.ts';

/** In the order in which they are done. */
export const TREC_WORKS = ['run', 'qrels', 'evaluate'] as const;
export type TrecWork = (typeof TREC_WORKS)[number];

/** By the names of this project and of trec_eval. */
export const METRIC_NAMES = {
  'ndcg@10': 'ndcg_cut_10',
  'recall@10': 'recall_10',
  rr: 'recip_rank',
  map: 'map',
  'p@10': 'P_10',
} as const;
export const TREC_METRICS = Object.keys(METRIC_NAMES);
export const EVALUATION: EvaluationOptions = { relevantGrade: 1, unanswerable: 'count', holeDepth: 10 };

/** The cost of a work in a process. */
export interface TrecCost {
  readonly work: TrecWork;
  /** Time of the processor. */
  readonly seconds: number;
  /** The largest memory of the process so far. */
  readonly peakBytes: number;
}
