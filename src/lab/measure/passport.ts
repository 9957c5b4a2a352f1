import { getOrCompute } from '../../core/values/once.ts';
import type { Evaluation } from '../../eval/metrics/evaluate.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import type { Corpus } from '../../model/turns/corpus.ts';

/** The definition of a token, as passports state it. */
export const TOKENS = 'lower-cased Unicode words, as the bm25 index has them';

const countsOf = new WeakMap<Corpus, Map<string, number>>();
const tokenise = createTokeniser({ dropStopWords: false, stem: false });

/** The number of words of a turn; each text is read once. */
export function createTokenCounter(corpus: Corpus): (turnId: string) => number {
  let counts = countsOf.get(corpus);
  if (counts === undefined) {
    counts = new Map();
    countsOf.set(corpus, counts);
  }
  const known = counts;
  return (turnId) => getOrCompute(known, turnId, () => countTokens(corpus.getTurn(turnId).text));
}

/** The number of tokens of a text: lower-cased Unicode words, as BM25 has them. */
export function countTokens(text: string): number {
  return tokenise(text).length;
}

/** The unit of a hit: a relevant turn itself, or any turn of its session or conversation. */
export type Granularity = 'turn' | 'session' | 'conversation';

/** The exact definition of a metric's figures: figures with different passports must not be compared. */
export interface MetricPassport {
  readonly metric: string;
  readonly definition: string;
  /** The order of equal scores. */
  readonly ties: string;
  readonly granularity: Granularity;
  readonly cutoff: number | null;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** True if unjudged documents were removed from the rankings first. */
  readonly judgedOnly: boolean;
  readonly dataHash: string;
  /** Share of judged documents among the first k of the rankings, k being the cut-off or the end of the budget, or 10 without one; over arms and queries. 1 without rankings. */
  readonly judgedAt: number;
  /** Queries that the figure is over. */
  readonly queries: number;
  /** Queries without a relevant document. */
  readonly unanswerable: number;
  /** True if those count with the value 0, or are excluded. */
  readonly unanswerableAre: 'counted' | 'apart';
  /** What a token is, of a metric with a token budget. */
  readonly tokens?: string;
  /** The highest grade of the scale, of a metric that depends on it. */
  readonly highestGrade?: number;
}

/** The part of a passport that describes the judgements, not the metric. */
export type PassportFacts = Pick<
  MetricPassport,
  'granularity' | 'relevantGrade' | 'judgedOnly' | 'dataHash' | 'unanswerableAre'
> & {
  /** The highest grade of the data's scale. */
  readonly findHighestGrade?: () => number;
};

const TIES = 'score descending, then document id descending by bytes, as trec_eval orders them';

/** The passport of one metric. @param evaluations of all arms over the same queries; at least one. */
export function buildPassport(
  metric: string,
  evaluations: readonly Evaluation[],
  { granularity, relevantGrade, judgedOnly, dataHash, unanswerableAre, findHighestGrade }: PassportFacts,
): MetricPassport {
  const { definition, cutoff, tokenBudget, readsScale, relevantGrade: ownGrade } = parseMetric(metric);
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
    relevantGrade: ownGrade ?? relevantGrade,
    judgedOnly,
    dataHash,
    judgedAt: retrieved === 0 ? 1 : judged / retrieved,
    queries: queryIds.length,
    unanswerable: unanswerable.length,
    unanswerableAre,
    ...(tokenBudget === null ? {} : { tokens: TOKENS }),
    ...(readsScale && findHighestGrade !== undefined ? { highestGrade: findHighestGrade() } : {}),
  };
}
