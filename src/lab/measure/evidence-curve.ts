import { type Clusters, type Estimate, meanIntervals } from '../../eval/intervals/mean-intervals.ts';
import { type EvaluationOptions, evaluate } from '../../eval/metrics/evaluate.ts';
import type { Qrels, Run } from '../../model/run.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';

/** The evidence that an arm puts into budgets of tokens. K budgets; estimates are means over the queries, with intervals over the conversations. */
export interface EvidenceCurve {
  /** [K] tokens, ascending. */
  readonly budgets: readonly number[];
  /** [K] `recall@Bt` at each budget. */
  readonly recall: readonly Estimate[];
  /** [K] the same if the relevant turns of the ranking were packed first: what another order of the same turns could reach. */
  readonly ceiling: readonly Estimate[];
  /** Area under `recall` over ln(tokens), divided by the width: see {@link computeCurveArea}. */
  readonly area: Estimate;
  readonly ceilingArea: Estimate;
}

/** Judgements and tokens of an arm's rankings. */
export interface CurveInputs extends Pick<EvaluationOptions, 'relevantGrade' | 'unanswerable'> {
  readonly qrels: Qrels;
  /** The number of tokens of a turn. */
  readonly countTokens: (turnId: string) => number;
}

/**
 * The area under a curve over ln(tokens) by the trapezoidal rule, divided by ln(last / first): its mean height, where each doubling of the budget weighs the same.
 *
 * @param budgets [K] tokens, ascending; K at least 2.
 * @param values [K] at each budget.
 */
export function computeCurveArea(budgets: readonly number[], values: readonly number[]): number {
  const logs = budgets.map(Math.log);
  let area = 0;
  for (let i = 1; i < logs.length; i++) area += ((logs[i]! - logs[i - 1]!) * (values[i]! + values[i - 1]!)) / 2;
  return area / (logs.at(-1)! - logs[0]!);
}

/** The relevant turns of each ranking alone, the shortest first: no other packing of the ranking's turns has more of them in any budget. */
function packEvidenceFirst(run: Run, { qrels, relevantGrade, countTokens }: CurveInputs): Run {
  const isRelevant = (judgements: ReadonlyMap<string, number> | undefined, id: string) =>
    (judgements?.get(id) ?? Number.NEGATIVE_INFINITY) >= relevantGrade;
  const pack = (ranking: readonly Scored[], query: string) =>
    ranking
      .filter(({ id }) => isRelevant(qrels.get(query), id))
      .map(({ id }) => ({ id, score: -countTokens(id) }))
      .sort((a, b) => b.score - a.score);
  return new Map([...run].map(([query, ranking]) => [query, pack(ranking, query)]));
}

/**
 * How much evidence reaches each budget, by the metric `recall@Bt`: the turns of the longest prefix that fits. A ranking that ends before the budget is full
 * leaves the rest of the budget empty.
 *
 * @param budgets [K] tokens, ascending; K at least 2.
 * @param clusters of the queries that have a relevant turn, in the order of the judgements.
 */
export function measureEvidenceCurve(
  run: Run,
  inputs: CurveInputs,
  budgets: readonly number[],
  clusters: Clusters,
  statistics: { readonly samples: number; readonly level: number; readonly seed: number },
): EvidenceCurve {
  const metrics = budgets.map((budget) => `recall@${budget}t`);
  const estimate = (ranked: Run) => {
    const { values } = evaluate(ranked, inputs.qrels, metrics, { ...inputs, holeDepth: 1 });
    const columns = metrics.map((metric) => values[metric] as readonly number[]);
    const areas = (columns[0] as readonly number[]).map((_, query) =>
      computeCurveArea(
        budgets,
        columns.map((column) => column[query] as number),
      ),
    );
    const estimates = meanIntervals([...columns, areas], clusters, statistics);
    return { heights: estimates.slice(0, -1), area: estimates.at(-1) as Estimate };
  };
  const own = estimate(run);
  const best = estimate(packEvidenceFirst(run, inputs));
  return { budgets, recall: own.heights, ceiling: best.heights, area: own.area, ceilingArea: best.area };
}
