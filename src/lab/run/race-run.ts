import { addCounts, type StageCounts } from '../../rank/signals/stage.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import { describeControl } from '../config/control-arms.ts';
import { measureQueryValues } from '../measure/measurement.ts';
import type { StoppedArm } from '../measure/result.ts';
import type { ArmRecord } from './arm-record.ts';
import type { ArmRunner } from './arm-runner.ts';
import type { Execute, PreparedRun } from './execution.ts';
import { type Dropout, findDropouts, LEAST_CLUSTERS, type RaceOptions, raceShares } from './race.ts';
import { buildRun } from './rankings.ts';
import { runHash } from './run-hash.ts';

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
  const evaluation = { ...config.evaluation, share: share * config.evaluation.share, race: null, latency: null };
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
