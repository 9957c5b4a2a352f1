import type { Evaluation } from '../../evaluation/evaluate.ts';
import { parseMetric } from '../../evaluation/metric.ts';

/** What counts as a hit: a relevant turn itself, or any turn of its conversation. */
export type Granularity = 'turn' | 'conversation';

/** What a figure of a metric is, exactly: figures with different passports must not be compared. */
export interface MetricPassport {
  readonly metric: string;
  readonly definition: string;
  /** How equal scores are ordered. */
  readonly ties: string;
  readonly granularity: Granularity;
  readonly cutoff: number | null;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** Whether unjudged documents were taken out of the rankings first. */
  readonly judgedOnly: boolean;
  readonly dataHash: string;
  /** Share of judged documents among the first k of the rankings, k being the cut-off, or 10 without one; over arms and queries. 1 where nothing was ranked. */
  readonly judgedAt: number;
  /** Queries that the figure is over. */
  readonly queries: number;
  /** Queries without a relevant document. */
  readonly unanswerable: number;
  /** Whether those count with the value 0, or are kept out of the figure. */
  readonly unanswerableAre: 'counted' | 'apart';
}

/** What a passport says of the judgements and not of the metric. */
export type PassportFacts = Pick<
  MetricPassport,
  'granularity' | 'relevantGrade' | 'judgedOnly' | 'dataHash' | 'unanswerableAre'
>;

const TIES = 'score descending, then document id descending by bytes, as trec_eval orders them';

/** The passport of one metric. @param evaluations of all arms over the same queries; at least one. */
export function passportOf(
  metric: string,
  evaluations: readonly Evaluation[],
  { granularity, relevantGrade, judgedOnly, dataHash, unanswerableAre }: PassportFacts,
): MetricPassport {
  const { definition, cutoff } = parseMetric(metric);
  const [{ queryIds, unanswerable }] = evaluations as [Evaluation];
  let retrieved = 0;
  let judged = 0;
  for (const { coverage } of evaluations)
    for (const query of coverage[metric] as Evaluation['coverage'][string]) {
      retrieved += query.retrieved;
      judged += query.judged;
    }
  return {
    metric,
    definition,
    ties: TIES,
    granularity,
    cutoff,
    relevantGrade,
    judgedOnly,
    dataHash,
    judgedAt: retrieved === 0 ? 1 : judged / retrieved,
    queries: queryIds.length,
    unanswerable: unanswerable.length,
    unanswerableAre,
  };
}
