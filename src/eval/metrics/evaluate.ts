import { attachDisplay, buildTableBundle, phrase, stateShown } from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import type { GradedRun, Qrels, Run, Superseded } from '../../model/run.ts';
import {
  countHolesWithin,
  countRanksWithin,
  type JudgedRanking,
  judgeGrades,
  judgeRanking,
  type RankingFacts,
} from './judged-ranking.ts';
import { type Metric, parseMetric } from './metric.ts';

/** The part of an evaluation that is shown. */
interface Measured {
  readonly queryIds: readonly string[];
  readonly values: Readonly<Record<string, readonly number[]>>;
  readonly unanswerable: readonly string[];
  readonly missing: readonly string[];
  readonly unjudged: readonly string[];
}

/** Lets a notebook show an evaluation as a table of means, one row for each metric. @returns the same object. */
function displayEvaluation<T extends Measured>(evaluation: T): T {
  return attachDisplay(evaluation, ({ queryIds, values, unanswerable, missing, unjudged }) => {
    const rows = Object.entries(values).map(([metric, of]) => ({
      metric: stateShown(metric),
      mean: of.length === 0 ? null : of.reduce((sum, value) => sum + value, 0) / of.length,
    }));
    const notes = { 'without a relevant document': unanswerable, 'without a ranking': missing, unjudged };
    const counts = Object.entries(notes).map(([note, ids]) => (ids.length === 0 ? '' : `, ${ids.length} ${note}`));
    const caption = phrase`means of ${queryIds.length} queries${stateShown(counts.join(''))}`;
    return buildTableBundle(rows, { caption, limit: 100 });
  });
}

/**
 * How {@link evaluate} reads judgements: the least relevant grade, queries without a relevant document, and the depth at which it counts unjudged
 * documents.
 */
export interface EvaluationOptions {
  /** The least grade that counts as relevant in the metrics that know only relevant and not. */
  readonly relevantGrade: number;
  /**
   * Judged queries without a relevant document: `count` them as trec_eval does, or keep them `apart`, out of every value. Where they
   * count, a ranking scores 0 for them, unless the metric is an nDCG and a document has a lower grade.
   */
  readonly unanswerable: 'count' | 'apart';
  /** Unjudged documents are counted among this many first ones. */
  readonly holeDepth: number;
  /** The highest grade of the scale, for `err`; by default the highest one among the judgements. */
  readonly highestGrade?: number;
  /** The number of tokens of a document, for budgets such as `recall@500t`. */
  readonly countTokens?: (id: string) => number;
  /** The superseded documents of each query, for `stale@k`; a query that is not among them has none. */
  readonly superseded?: Superseded;
}

/** Judged documents at a cutoff k, for one query: `retrieved` documents are among the first k, and `judged` of them have a judgement. */
export interface Coverage {
  /** Documents of the ranking down to the cutoff. */
  readonly retrieved: number;
  /** Those of them that have a judgement. */
  readonly judged: number;
}

/** A run measured against judgements. Q queries. */
export interface Evaluation {
  /** [Q] in the order of the judgements. */
  readonly queryIds: readonly string[];
  /** By metric, as the caller wrote it, [Q] each. */
  readonly values: Readonly<Record<string, readonly number[]>>;
  /** [Q] unjudged documents among the first `holeDepth`. */
  readonly holes: readonly number[];
  /** By metric id, [Q]: the number of documents among the first k, and of those that are judged; k is the cutoff, or `holeDepth` without one. */
  readonly coverage: Readonly<Record<string, readonly Coverage[]>>;
  /** Judged queries without a relevant document, counted or not. */
  readonly unanswerable: readonly string[];
  /** Judged queries for which the run has no ranking; they score 0. */
  readonly missing: readonly string[];
  /** Queries of the run without judgements; they are left out. */
  readonly unjudged: readonly string[];
}

function measureJudgedCoverage(ranking: JudgedRanking, { cutoff, tokenBudget }: Metric, holeDepth: number): Coverage {
  const { tokens } = ranking;
  const budgeted = tokenBudget === null || tokens === null ? null : countRanksWithin(tokens, tokenBudget);
  const k = budgeted ?? cutoff ?? holeDepth;
  const retrieved = Math.min(k, ranking.grades.length);
  return { retrieved, judged: retrieved - countHolesWithin(ranking, k) };
}

function assertOptions({ relevantGrade, holeDepth }: EvaluationOptions): void {
  if (!(relevantGrade > 0 && Number.isFinite(relevantGrade)))
    throw new ValidationError(
      `relevantGrade is not a finite number above 0: ${relevantGrade}; pass the lowest relevant grade`,
      { relevantGrade },
    );
  if (!(Number.isInteger(holeDepth) && holeDepth > 0))
    throw new ValidationError(`holeDepth is not a whole number from 1: ${holeDepth}; pass a rank`, { holeDepth });
}

const NONE: ReadonlyMap<string, string> = new Map();

/** What the metrics need besides judgements, and nothing that none of them needs: scales and tokens take a walk over the data. */
function collectFacts(qrels: Qrels, metrics: readonly Metric[], options: EvaluationOptions): RankingFacts {
  const { countTokens } = options;
  const scaled = metrics.some(({ readsScale }) => readsScale);
  const budgeted = metrics.some(({ tokenBudget }) => tokenBudget !== null);
  return {
    ...(scaled ? { highestGrade: options.highestGrade ?? findHighestGrade(qrels) } : {}),
    ...(budgeted && countTokens !== undefined ? { countTokens } : {}),
  };
}

type Judgements = ReadonlyMap<string, number>;

/** {@link judgeRanking} for a query of a run. A run that was checked is asked for grades, unless documents count. */
function judgeQuery(run: Run | GradedRun, query: string, judged: Judgements, relevant: number, facts: RankingFacts) {
  return 'gradeRanking' in run && facts.countTokens === undefined && facts.superseded === undefined
    ? judgeGrades(query, run.gradeRanking(query, judged), judged, relevant, facts.highestGrade)
    : judgeRanking(query, run.get(query) ?? [], judged, relevant, facts);
}

/** The highest grade of all judgements; 1 where none is higher. */
export function findHighestGrade(qrels: Qrels): number {
  let highest = 1;
  for (const judgements of qrels.values()) for (const grade of judgements.values()) highest = Math.max(highest, grade);
  return highest;
}

/**
 * Measures a run. Rankings are sorted by the tie rule first, so that equal scores are treated as trec_eval treats them.
 *
 * @param metricIds for example `mrr@10`, `recall@10`, `nDCG@10`; see {@link parseMetric}. The values have these names.
 * @throws ValidationError for an unknown metric, a wrong option or a document that a ranking repeats.
 * @throws NotFiniteError for a score that is not finite, naming query and document.
 */
export function evaluate(run: Run, qrels: Qrels, metricIds: readonly string[], options: EvaluationOptions): Evaluation {
  assertOptions(options);
  const metrics = metricIds.map(parseMetric);
  const facts = collectFacts(qrels, metrics, options);
  const values = metrics.map(() => [] as number[]);
  const coverage = metrics.map(() => [] as Coverage[]);
  const queryIds: string[] = [];
  const holes: number[] = [];
  const unanswerable: string[] = [];
  for (const [queryId, judgements] of qrels) {
    const own = options.superseded ? { ...facts, superseded: options.superseded.get(queryId) ?? NONE } : facts;
    const ranking = judgeQuery(run, queryId, judgements, options.relevantGrade, own);
    if (ranking.relevant === 0) unanswerable.push(queryId);
    if (ranking.relevant === 0 && options.unanswerable === 'apart') continue;
    queryIds.push(queryId);
    holes.push(countHolesWithin(ranking, options.holeDepth));
    for (const [m, metric] of metrics.entries()) {
      values[m]?.push(metric.compute(ranking));
      coverage[m]?.push(measureJudgedCoverage(ranking, metric, options.holeDepth));
    }
  }
  return displayEvaluation({
    queryIds,
    values: Object.fromEntries(metricIds.map((id, m) => [id, values[m] as number[]])),
    holes,
    coverage: Object.fromEntries(metricIds.map((id, m) => [id, coverage[m] as Coverage[]])),
    unanswerable,
    missing: [...qrels.keys()].filter((id) => !run.has(id)),
    unjudged: [...run.keys()].filter((id) => !qrels.has(id)),
  });
}

/** One value a metric: the mean over the queries, or the sum for counts. @throws ValidationError when there is no query. */
export function summarise({ queryIds, values }: Evaluation): Record<string, number> {
  if (queryIds.length === 0) throw new ValidationError(`mean of ${queryIds.length} queries; pass at least 1`);
  return Object.fromEntries(
    Object.entries(values).map(([id, column]) => {
      const sum = column.reduce((total, value) => total + value, 0);
      return [id, parseMetric(id).aggregate === 'sum' ? sum : sum / queryIds.length];
    }),
  );
}
