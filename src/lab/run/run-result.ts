import { createEventBreaks } from '../../core/terminal/progress.ts';
import { groupIntoClusters } from '../../eval/intervals/mean-intervals.ts';
import { isRefusal, type SignedSlices } from '../../rank/retrieval/packed-slices.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import {
  buildRankedResult,
  countLosses,
  describeMeasured,
  groupLosses,
  listInspectedTurns,
  listRelevantPositions,
} from '../measure/attribution.ts';
import type { ArmConservation, RecordedConservation } from '../measure/conservation.ts';
import { measureInteractions } from '../measure/interactions.ts';
import type { ArmMeasurement, Measurement } from '../measure/measurement.ts';
import type {
  ArmResult,
  ExperimentResult,
  Inadmissible,
  ProtocolWarning,
  SliceSummary,
  Stratum,
  SweepSummary,
} from '../measure/result.ts';
import { type ArmRecord, describeSteps, type Outcomes } from './arm-record.ts';
import type { PreparedRun } from './execution.ts';
import { buildInspectedRankings } from './rankings.ts';
import { selectSlices } from './run-slices.ts';

type Losses = Readonly<Record<string, string>>;

function countInadmissible(losses: readonly Losses[]): Inadmissible {
  const stages = losses.flatMap((turns) => Object.values(turns));
  return { relevant: stages.length, inadmissible: stages.filter((stage) => stage === 'slice').length };
}

/**
 * Sums up the slices of the measured queries.
 *
 * @param slices of these queries, in order; at least one.
 * @param losses [Q] the fate of each query's relevant turns.
 */
export function summariseSlices(
  { answers, starts }: SignedSlices,
  losses: readonly Losses[],
  strata: readonly Stratum[],
): SliceSummary {
  const countLevels = ({ levels }: Stratum) =>
    Object.fromEntries(
      levels.map(({ name, queries }) => [name, countInadmissible(queries.map((query) => losses[query] as Losses))]),
    );
  return {
    policyRef: answers[0]?.policyRef as string,
    queries: answers.length,
    meanTurns: (starts.at(-1) as number) / answers.length,
    unanchored: answers.filter((answer) => !isRefusal(answer) && answer.anchorTurnId === null).length,
    refused: answers.filter(isRefusal).length,
    ...countInadmissible(losses),
    strata: Object.fromEntries(strata.map((stratum) => [stratum.name, countLevels(stratum)])),
  };
}

/** All that a result is put together from. */
export interface MeasuredRun {
  readonly run: PreparedRun;
  readonly outcomes: Outcomes;
  readonly stopped: ExperimentResult['stopped'];
  /** Of the records, in their order. */
  readonly measurement: Measurement;
  readonly remarks: readonly string[];
  readonly warnings: readonly ProtocolWarning[];
  readonly stages: StageCounts;
  readonly timings: ExperimentResult['timings'];
}

/** The fate of the relevant turns of each measured query. */
function selectLosses(
  { runner: { dataset, queries } }: PreparedRun,
  { losses }: ArmRecord,
  measured: Measurement['queries'],
) {
  const ids = queries.map(({ id }) => id);
  const relevant = listRelevantPositions(dataset.corpus, dataset.qrels, dataset.relevantGrade, ids);
  const byQuery = groupLosses(dataset.corpus, relevant, losses);
  const queryIndexes = new Map(ids.map((id, queryIndex) => [id, queryIndex]));
  return measured.map(({ id }) => byQuery[queryIndexes.get(id) as number] as Readonly<Record<string, string>>);
}

function buildMeasuredArm(
  record: ArmRecord,
  measurement: ArmMeasurement,
  { run, measurement: { queries, strata } }: MeasuredRun,
): ArmResult {
  const { options, tuned, componentNames, contributionNames, coordinateNames, latency, slices } = record;
  const losses = selectLosses(run, record, queries);
  const own =
    slices &&
    selectSlices(
      slices,
      queries.map(({ id }) => id),
    );
  return {
    name: options.name,
    description: options.description,
    options,
    levels: options.levels,
    tuned,
    ...measurement,
    componentNames,
    contributionNames,
    coordinateNames,
    rankings: buildInspectedRankings(run.runner.dataset.corpus, run.runner.queries, record, queries),
    attribution: countLosses(losses),
    ...(record.changes && { steps: describeSteps(record, run.runner.queries.length) }),
    ...(own && { slices: summariseSlices(own, losses, strata) }),
    losses,
    latency,
  };
}

/** The design of the arms, and the interactions of a factorial sweep. */
function summariseSweep(
  { run, measurement: { queries } }: MeasuredRun,
  arms: readonly ArmResult[],
): SweepSummary | null {
  const { sweep, evaluation, seed } = run.config;
  if (sweep === null) return null;
  const labels = queries.map(({ cluster }) => cluster);
  const swept = sweep.method === 'factorial' ? arms.filter(({ levels }) => levels !== null) : [];
  const interactions = measureInteractions(sweep.factors, swept, evaluation.metrics, labels, { ...evaluation, seed });
  return { ...sweep, interactions };
}

/** The conservation of an arm over the measured queries. */
async function summariseShown(
  recorded: RecordedConservation,
  { run: { config, runner }, measurement: { queries } }: MeasuredRun,
): Promise<ArmConservation> {
  const { summariseConservation } = await import('../measure/conservation.ts');
  const rowOf = new Map(runner.queries.map(({ id }, row) => [id, row]));
  const rows = queries.map(({ id }) => rowOf.get(id) as number);
  const clusters = groupIntoClusters(queries.map(({ cluster }) => cluster));
  return summariseConservation(recorded, rows, clusters, { ...config.evaluation, seed: config.seed });
}

/** Lets events in between arms. */
export async function assembleResult(measured: MeasuredRun): Promise<ExperimentResult> {
  const { run, outcomes, stopped, measurement, remarks, warnings, stages, timings } = measured;
  const { config, runner } = run;
  const pause = createEventBreaks();
  const arms: ArmResult[] = [];
  for (const [a, record] of outcomes.records.entries()) {
    const arm = buildMeasuredArm(record, measurement.arms[a] as ArmMeasurement, measured);
    arms.push(
      record.conservation ? { ...arm, conservation: await summariseShown(record.conservation, measured) } : arm,
    );
    await pause();
  }
  const rankings = arms.flatMap((arm) => arm.rankings);
  const { dataset } = runner;
  const turns = listInspectedTurns(dataset, measurement.queries, rankings);
  const facts = {
    ...{ name: config.name, hash: run.hash, description: config.description, environment: run.environment, config },
    ...describeMeasured(dataset, measurement, config.evaluation.split, turns),
    ...{ arms, failures: outcomes.failures, stopped, sweep: summariseSweep(measured, arms), stages, remarks },
    ...(warnings.length > 0 && { warnings }),
    ...{ armsAtOnce: Math.max(...outcomes.records.map((record) => record.armsAtOnce)), timings },
  };
  return buildRankedResult(facts, measurement, { ...config.evaluation, seed: config.seed });
}
