import { createEventBreaks } from '../../core/values/event-loop.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import { countLosses, groupLosses, listRelevantPositions } from '../measure/attribution.ts';
import { describeMeasured } from '../measure/inspection.ts';
import { measureInteractions } from '../measure/interactions.ts';
import type { ArmMeasurement, Measurement } from '../measure/measurement.ts';
import type { ArmResult, ExperimentResult, ProtocolWarning, SweepSummary } from '../measure/result.ts';
import { summariseSlices } from '../measure/slice-summary.ts';
import type { Outcomes } from './arm-failure.ts';
import type { ArmRecord } from './arm-record.ts';
import { selectSlices } from './arm-slices.ts';
import type { PreparedRun } from './execution.ts';
import { buildInspectedRankings } from './rankings.ts';

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

/** Lets events in between arms. */
export async function assembleResult(measured: MeasuredRun): Promise<ExperimentResult> {
  const { run, outcomes, stopped, measurement, remarks, warnings, stages, timings } = measured;
  const { config, runner } = run;
  const { metrics, baseline, test, correction, samples, level } = config.evaluation;
  const pause = createEventBreaks();
  const arms: ArmResult[] = [];
  for (const [a, record] of outcomes.records.entries()) {
    arms.push(buildMeasuredArm(record, measurement.arms[a] as ArmMeasurement, measured));
    await pause();
  }
  const rankings = arms.flatMap((arm) => arm.rankings);
  return {
    name: config.name,
    hash: run.hash,
    description: config.description,
    environment: run.environment,
    config,
    ...describeMeasured(runner.dataset, config.evaluation.split, measurement, rankings),
    metrics,
    statistics: { test, correction, samples, level },
    baseline,
    arms,
    failures: outcomes.failures,
    stopped,
    passports: measurement.passports,
    strata: measurement.strata,
    sweep: summariseSweep(measured, arms),
    stages,
    remarks,
    ...(warnings.length === 0 ? {} : { warnings }),
    armsAtOnce: Math.max(...outcomes.records.map((record) => record.armsAtOnce)),
    timings,
  };
}
