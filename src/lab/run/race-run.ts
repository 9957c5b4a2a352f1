import {
  type ClusteredMean,
  clusteredTInterval,
  clusteredTTest,
  estimateClusteredMean,
  groupIntoClusters,
  type Interval,
} from '../../eval/intervals/mean-intervals.ts';
import { confirmByFlips, holm } from '../../eval/significance/multiple-comparisons.ts';
import { computePairedDifferences } from '../../eval/significance/paired-differences.ts';
import { isSignificant } from '../../eval/significance/verdict.ts';
import { buildRun } from '../../rank/retrieval/retriever.ts';
import { addCounts, type StageCounts } from '../../rank/signals/stage.ts';
import { describeControl } from '../config/arm-selection.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import { measureQueryValues } from '../measure/measurement.ts';
import type { StoppedArm } from '../measure/result.ts';
import type { ArmRecord } from './arm-record.ts';
import type { ArmRunner } from './arm-runner.ts';
import { runHash } from './environment.ts';
import type { Execute, PreparedRun } from './execution.ts';

/** A round with fewer conversations stops no arm. */
const LEAST_CLUSTERS = 12;

export interface RaceOptions {
  readonly confidence: number;
  /** The number of rounds; the last one stops no arm. */
  readonly rounds: number;
}

/** An arm that a round shows to be worse than the round's best. */
interface Dropout {
  /** Place among the round's arms. */
  readonly arm: number;
  readonly mean: number;
  /** The arm minus the best one. */
  readonly difference: Interval;
  /** Corrected over the round's arms and over the rounds. */
  readonly p: number;
}

/** The shares of the conversations that each round is about: twice as many a round, all in the last. */
export function raceShares(rounds: number): number[] {
  return Array.from({ length: rounds }, (_, round) => 2 ** (round - rounds + 1));
}

/** The first arm of the highest mean. */
function findBestMean(means: readonly number[]): number {
  return means.indexOf(Math.max(...means));
}

/**
 * Which arms a round stops: those whose paired clustered t test against the best arm of the round says worse, with few
 * conversations also their signs, corrected by Holm over the arms and by Bonferroni over the rounds that can stop one.
 * An arm that is as good as the best is stopped in the whole race with a chance below 1 - confidence, by simulation.
 * This holds for one arm, not for all: the chance that some of many good arms is stopped is higher.
 *
 * @param arms values of one metric for the round's queries, [Q] each.
 * @param labels [Q] the conversation of each query.
 * @param kept places of the arms that are never stopped, such as the baseline.
 */
export function findDropouts(
  arms: readonly (readonly number[])[],
  labels: readonly string[],
  { confidence, rounds }: RaceOptions,
  kept: ReadonlySet<number> = new Set(),
): Dropout[] {
  const clusters = groupIntoClusters(labels);
  if (clusters.sizes.length < LEAST_CLUSTERS || arms.length < 2) return [];
  const means = arms.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
  const best = findBestMean(means);
  const others = arms.flatMap((_, arm) => (arm === best ? [] : [arm]));
  const columns = others.map((arm) =>
    computePairedDifferences(arms[arm] as readonly number[], arms[best] as readonly number[]),
  );
  const differences = columns.map((column) => estimateClusteredMean(column, clusters));
  const ps = columns.map((column, i) =>
    confirmByFlips(clusteredTTest(differences[i] as ClusteredMean), column, clusters),
  );
  const corrected = holm(ps).map((p) => Math.min(1, p * (rounds - 1)));
  return others.flatMap((arm, armIndex) => {
    const p = corrected[armIndex] as number;
    if (kept.has(arm) || !isSignificant(p, confidence)) return [];
    const difference = clusteredTInterval(differences[armIndex] as ClusteredMean, confidence);
    return [{ arm, mean: means[arm] as number, difference, p }];
  });
}

/** The outcome of a race. */
export interface Raced {
  /** The arms that are still running, in order. */
  readonly arms: readonly ArmOptions[];
  readonly stopped: readonly StoppedArm[];
  /** The number of executions of each stage in its rounds. */
  readonly stages: StageCounts;
}

/** True if an arm was stopped, or controls or repeats one that was. */
function isOut(arm: ArmOptions, stopped: ReadonlySet<string>): boolean {
  return stopped.has(describeControl(arm)?.of ?? arm.repeats ?? arm.name);
}

/** The experiment as one round has it: some arms on a share of the conversations. */
function roundConfig(config: ExperimentConfig, share: number, arms: readonly ArmOptions[]): ExperimentConfig {
  const { conservation: _, ...measured } = config.evaluation;
  const evaluation = { ...measured, share: share * measured.share, race: null, latency: null };
  return { ...config, evaluation, only: arms.map(({ name }) => name) };
}

/** Conversations with a query that has a relevant turn: the others do not affect the figures. */
function countTestedConversations({ dataset, queries }: ArmRunner, metric: string): number {
  const measured = measureQueryValues(metric, new Map(), dataset, queries).queries;
  return new Set(measured.map(({ cluster }) => cluster)).size;
}

function chooseDropouts(
  records: readonly ArmRecord[],
  { dataset, queries }: ArmRunner,
  { metrics, baseline }: ExperimentConfig['evaluation'],
  race: RaceOptions,
): { readonly dropouts: readonly Dropout[]; readonly queries: number } {
  const metric = metrics[0] as string;
  const measured = records.map((record) =>
    measureQueryValues(metric, buildRun(dataset.corpus, queries, record), dataset, queries),
  );
  const labels = measured[0]?.queries.map(({ cluster }) => cluster) ?? [];
  const kept = new Set([records.findIndex(({ name }) => name === baseline)]);
  const values = measured.map((one) => one.values);
  return { dropouts: findDropouts(values, labels, race, kept), queries: labels.length };
}

/** One round in a runner of its own. An arm that fails in a round continues; its failure is reported at the end. */
async function runRound(run: PreparedRun, race: RaceOptions, runner: ArmRunner, execute: Execute) {
  const metric = run.config.evaluation.metrics[0] as string;
  const { records } = await execute(run);
  const found = chooseDropouts(records, runner, run.config.evaluation, race);
  const stopped = found.dropouts.map(({ arm, mean, difference, p }): StoppedArm => {
    const { name, options } = records[arm] as ArmRecord;
    return { name, description: options.description, queries: found.queries, metric, mean, difference, p };
  });
  return { stopped, stages: addCounts(...records.map((record) => record.stages)) };
}

/**
 * Runs an experiment's arms on growing samples of its conversations and stops those that {@link findDropouts} shows to be hopeless in the first metric; the
 * baseline never is. Null controls and repetitions are not in the rounds: they stay, or go with their arm. The last round, all conversations, is left to the caller. Rounds with too few conversations to stop an arm are not run.
 *
 * @param execute runs the arms of a round; each round is an experiment of its own, with its own hash.
 */
export async function runRace(run: PreparedRun, race: RaceOptions, execute: Execute): Promise<Raced> {
  const stopped: StoppedArm[] = [];
  const stages: StageCounts[] = [];
  let arms = run.arms.filter(({ control, repeats }) => control === null && repeats === null);
  for (const share of raceShares(race.rounds).slice(0, -1)) {
    const config = roundConfig(run.config, share, arms);
    const runner = run.runner.withConfig(config);
    try {
      if (countTestedConversations(runner, config.evaluation.metrics[0] as string) < LEAST_CLUSTERS) continue;
      const hash = runHash(config, runner.dataset.hash, run.backend);
      const round = await runRound({ ...run, config, arms, hash, runner }, race, runner, execute);
      stopped.push(...round.stopped);
      stages.push(round.stages);
      arms = arms.filter(({ name }) => round.stopped.every((arm) => arm.name !== name));
    } finally {
      await runner.dispose();
    }
  }
  const names = new Set(stopped.map(({ name }) => name));
  return { arms: run.arms.filter((arm) => !isOut(arm, names)), stopped, stages: addCounts(...stages) };
}
