import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { check, suggestKnown } from '../../core/validation/validation.ts';
import { parseMean } from '../../eval/metrics/metric.ts';
import type { CorrectionName, TestName } from '../../eval/significance/multiple-comparisons.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { compareScored, type Scored } from '../../model/turns/tie-rule.ts';
import { formatFileName } from '../composition/arms.ts';
import { isPlain, type Plain } from '../composition/config-file.ts';
import { buildRankedResult } from '../measure/attribution.ts';
import { findScaleEnd, type Judging, type Measurement, measureRuns } from '../measure/measurement.ts';
import type { Granularity } from '../measure/passport.ts';
import type { ArmResult, ExperimentResult, QueryRecord } from '../measure/result.ts';
import { describeUnknownTurns, displayResult } from '../measure/warning.ts';
import type { StoredRun } from './stored-run.ts';

/** Other definitions for the figures of a run. */
export interface RescoreOptions {
  readonly metrics: readonly string[];
  /** By default the dataset's. */
  readonly relevantGrade: number | null;
  /** Removes unjudged turns from the rankings first, so that they do not affect the figures. */
  readonly judgedOnly: boolean;
  readonly unanswerableAre: Judging['unanswerableAre'];
  /** By default the run's. */
  readonly baseline: string | null;
  readonly granularity: Granularity;
  readonly test: TestName;
  readonly correction: CorrectionName;
}

/** The name of a rescoring, as a folder: `mrr-5-ndcg-20-grade-2-judged-only`. */
export function rescoreName(options: RescoreOptions): string {
  const { metrics, relevantGrade, judgedOnly, unanswerableAre, baseline, granularity, test, correction } = options;
  const parts = [
    ...metrics.map((id) => parseMean(id).id),
    relevantGrade === null ? '' : `grade ${relevantGrade}`,
    judgedOnly ? 'judged only' : '',
    unanswerableAre === 'counted' ? 'unanswerable counted' : '',
    granularity === 'conversation' ? granularity : '',
    test === 'permutation' ? '' : test,
    correction === 'holm' ? '' : correction,
    baseline === null ? '' : `against ${baseline}`,
  ];
  return formatFileName(parts.filter((part) => part !== '').join(' '));
}

/** A ranking without unjudged documents; a negative grade is no judgement, and superseded documents are judged. */
function selectJudged(
  ranking: readonly Scored[],
  judgements: ReadonlyMap<string, number> | undefined,
  superseded: ReadonlyMap<string, string> | undefined,
): Scored[] {
  return ranking.filter(({ id }) => (judgements?.get(id) ?? -1) >= 0 || superseded?.has(id));
}

function findJudgedConversation(conversations: ReadonlyMap<string, string>, turnId: string): string {
  const conversation = conversations.get(turnId);
  if (conversation === undefined)
    throw new ValidationError(`turns.jsonl has no turn: ${turnId}; run the experiment again`, { turnId });
  return conversation;
}

/** The conversations of a ranking, each at the place of its first turn; the score is the place. */
export function collapseRanking(
  ranking: readonly Scored[],
  conversations: ReadonlyMap<string, string>,
): readonly Scored[] {
  const turns = [...ranking].sort(compareScored);
  const ids = new Set(turns.map(({ id }) => findJudgedConversation(conversations, id)));
  return [...ids].map((id, queryIndex) => ({ id, score: -queryIndex }));
}

/** Each conversation with the highest grade of its turns. */
export function collapseJudgements(
  judgements: ReadonlyMap<string, number>,
  conversations: ReadonlyMap<string, string>,
): Map<string, number> {
  const grades = new Map<string, number>();
  for (const [turnId, grade] of judgements) {
    const id = findJudgedConversation(conversations, turnId);
    grades.set(id, Math.max(grade, grades.get(id) ?? grade));
  }
  return grades;
}

function mapRuns<K>(
  runs: ReadonlyMap<K, Run>,
  change: (ranking: readonly Scored[], queryId: string) => readonly Scored[],
): ReadonlyMap<K, Run> {
  return new Map(
    Array.from(runs, ([arm, run]) => [arm, new Map(Array.from(run, ([id, ranking]) => [id, change(ranking, id)]))]),
  );
}

function assertArm(name: string, runs: ReadonlyMap<string, Run>): void {
  if (runs.has(name)) return;
  const hint = suggestKnown(name, [...runs.keys()]);
  throw new ValidationError(`run has no arm: ${name}; use ${hint}`, { name });
}

const depthSchema = z.looseObject({ evaluation: z.looseObject({ depth: z.number().int() }) });

/** Places of each ranking that the run has kept. */
function readKeptDepth({ config, folder }: StoredRun): number {
  const result = check(depthSchema, config);
  if ('faults' in result)
    throw new ValidationError(`config.yaml has no evaluation.depth: ${folder}; run the experiment again`, { folder });
  return result.value.evaluation.depth;
}

/** Refuses what the stored rankings cannot tell, and what has no mean. */
function assertMetrics(metrics: readonly string[], depth: number): void {
  const twice = metrics.find((id, i) => metrics.indexOf(id) < i);
  if (twice !== undefined) throw new ValidationError(`metric is listed twice: ${twice}; list it once`, { id: twice });
  for (const id of metrics)
    if ((parseMean(id).cutoff ?? 0) > depth)
      throw new ValidationError(
        `the run stores ${depth} ranks, fewer than the metric needs: ${id}; use a smaller cut-off or a larger evaluation.depth`,
        { id, depth },
      );
}

/** Refuses a token budget that the folder cannot measure. */
function assertBudgets(metrics: readonly string[], granularity: Granularity, { tokens, folder }: StoredRun): void {
  const budgeted = metrics.find((id) => parseMean(id).tokenBudget !== null);
  if (budgeted === undefined) return;
  if (granularity === 'conversation')
    throw new ValidationError(`a conversation has no tokens: ${budgeted}; use granularity turn or a cutoff in ranks`, {
      id: budgeted,
    });
  if (tokens.size === 0)
    throw new ValidationError(`turns.jsonl has no tokens for ${budgeted}: ${folder}; run the experiment again`, {
      folder,
    });
}

/** Measures the stored rankings again. The queries of the measurement are those of the folder. */
function measureStored(
  { summary, queries, qrels, superseded, runs, repetitions, conversations, tokens, environment }: StoredRun,
  options: RescoreOptions,
  progress: StartProgress,
) {
  const { metrics, granularity, judgedOnly, unanswerableAre, test, correction } = options;
  const baseline = options.baseline ?? summary.baseline;
  assertArm(baseline, runs);
  const judgements: Qrels = new Map(queries.map(({ id }) => [id, qrels.get(id) ?? new Map()]));
  const collapsed = granularity === 'conversation';
  const reduce = <K>(rankings: ReadonlyMap<K, Run>): ReadonlyMap<K, Run> => {
    const condensed = judgedOnly
      ? mapRuns(rankings, (ranking, id) => selectJudged(ranking, judgements.get(id), superseded?.get(id)))
      : rankings;
    return collapsed ? mapRuns(condensed, (ranking) => collapseRanking(ranking, conversations)) : condensed;
  };
  const judging: Judging = {
    qrels: collapsed
      ? new Map(Array.from(judgements, ([id, grades]) => [id, collapseJudgements(grades, conversations)]))
      : judgements,
    relevantGrade: options.relevantGrade ?? summary.dataset.relevantGrade,
    dataHash: summary.dataset.hash,
    granularity,
    judgedOnly,
    unanswerableAre,
    ...(superseded !== null && !collapsed && { superseded }),
    countTokens: (id) => tokens.get(id) ?? Number.NaN,
    findHighestGrade: () => findScaleEnd(qrels, summary.dataset.gradeNames),
  };
  const { samples, level } = summary.statistics;
  const controls = new Map(summary.arms.flatMap(({ name, control }) => (control === null ? [] : [[name, control]])));
  const repeated = new Map(Array.from(repetitions, ([arm, seeds]) => [arm, reduce(seeds)]));
  const tests = { samples, level, test, correction, seed: environment.seed };
  const measuring = { metrics, baseline, controls, repetitions: repeated, ...tests };
  return { baseline, measurement: measureRuns(reduce(runs), judging, queries, measuring, () => [], progress) };
}

function rescoreArms(
  { summary, config }: StoredRun,
  { arms, queries }: Measurement<StoredRun['queries'][number]>,
): ArmResult[] {
  const written = Array.isArray(config.arms) ? config.arms.filter(isPlain) : [];
  return summary.arms.map((arm, a) => ({
    ...arm,
    options: written.find(({ name }) => name === arm.name) as Plain,
    ...(arms[a] as (typeof arms)[number]),
    componentNames: [],
    rankings: queries.map(() => []),
    attribution: {},
    losses: queries.map(() => ({})),
    latency: null,
  }));
}

/**
 * Measures a stored run by other definitions: everything is computed from the rankings and judgements of its folder, and nothing is retrieved again. What
 * depends on more than those, such as strata and attribution, is left empty.
 *
 * @throws ValidationError for an unknown metric or baseline, a metric that looks further than the rankings go, and one that is a sum over the queries.
 */
export function rescore(
  stored: StoredRun,
  written: RescoreOptions,
  progress: StartProgress = ignoreProgress,
): ExperimentResult {
  const { summary, config, environment, qrels } = stored;
  const options = { ...written, metrics: written.metrics.map((id) => parseMean(id).id) };
  assertMetrics(options.metrics, readKeptDepth(stored));
  assertBudgets(options.metrics, options.granularity, stored);
  const { baseline, measurement } = measureStored(stored, options, progress);
  const warnings = describeUnknownTurns(summary.dataset);
  const record = (query: StoredRun['queries'][number]): QueryRecord => ({
    ...query,
    judgements: Object.fromEntries(qrels.get(query.id) ?? []),
  });
  const facts = {
    ...{ name: summary.experiment, hash: summary.hash, environment, config },
    description: typeof config.description === 'string' ? config.description : '',
    dataset: { ...summary.dataset, turns: [] },
    queries: measurement.queries.map(record),
    unanswerable: measurement.unanswerable.map(record),
    ...{ arms: rescoreArms(stored, measurement), failures: summary.failures },
    remarks: [`rescored as ${rescoreName(options)}`],
    ...(summary.look && { look: summary.look }),
    ...(warnings.length > 0 && { warnings }),
  };
  const { metrics, test, correction } = options;
  const measuring = { ...summary.statistics, metrics, baseline, test, correction, seed: environment.seed };
  return displayResult(buildRankedResult(facts, measurement, measuring));
}
