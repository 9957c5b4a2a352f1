import { listArmStages } from '../../rank/retrieval/written-steps.ts';
import { type Plan, withInputs } from '../../rank/signals/plan.ts';
import type { Stage } from '../../rank/signals/stage.ts';
import { listCombinations } from '../composition/arms.ts';
import type { Plain } from '../composition/config-file.ts';
import { inheritTunedPoint, listArmsToRun } from '../config/arm-selection.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import { assertArmAttributes, assertArmData, assertMetricData } from './needed-data.ts';
import { type RaceOptions, raceShares } from './race-run.ts';
import { exactCandidatesOfArm, listApproximateSources } from './run-warnings.ts';
import { tuningStage, withTuned } from './tuning.ts';
import { type ByEncoding, createTableGraphs, createTuningGraphs, type PlanSource } from './workspaces.ts';

/** The stages that a config executes with an empty cache, in one process. */
export interface StagePlan {
  /** By stage name, in alphabetical order. */
  readonly executions: Readonly<Record<string, number>>;
  readonly total: number;
  /** False if a stage depends on tuning or on a race: then the numbers are upper bounds. */
  readonly exact: boolean;
  /** The stages that will be executed in any case, inputs before what needs them. */
  readonly known: readonly Stage[];
}

/** Stages by the inputs that distinguish them. */
type Stages = ReadonlyMap<string, Stage>;

/** The requests of one workspace: the stages of one of the alternatives. */
type Request = readonly Stages[];

/** Path -> the values that tuning might set there. */
type Choices = Readonly<Record<string, readonly unknown[]>>;

type ArmsByName = ReadonlyMap<string, ArmOptions>;

function indexArmsByName({ arms }: ExperimentConfig): ArmsByName {
  return new Map(arms.map((arm) => [arm.name, arm]));
}

/** Tuned values that an arm's chain may pass to it. */
function listInheritedChoices(arm: ArmOptions, arms: ArmsByName): Choices {
  const parent = arm.extends === undefined ? undefined : arms.get(arm.extends);
  if (parent === undefined) return {};
  return inheritTunedPoint(arm, parent, { ...listInheritedChoices(parent, arms), ...parent.tune }) as Choices;
}

/** The stages and all that they need. Those that are not kept are executed in each workspace that asks. */
function collectClosure(workspace: string, stages: readonly Stage[]): Stages {
  const needed = [...withInputs(stages).values()];
  return new Map(needed.map((stage) => [stage.isKept ? stage.key : `${workspace} ${stage.key}`, stage]));
}

/** The first value of each path, or the last at -1. */
function pickPoint(choices: Choices, at: number): Plain {
  return Object.fromEntries(Object.entries(choices).map(([path, values]) => [path, values.at(at)]));
}

/** Without the values that no stage depends on, such as weights: each option either is in a stage's key or is not, so paths are looked at one by one. */
function withConsequences(plans: ByEncoding<Plan>, arm: ArmOptions, choices: Choices): Choices {
  const first = pickPoint(choices, 0);
  const joinStageKeys = (path: string, value: unknown) => {
    const tuned = withTuned(arm, { ...first, [path]: value });
    return [...withInputs(listArmStages(plans.get(tuned), tuned)).keys()].join();
  };
  const needed = Object.entries(choices).map(([path, values]) => {
    const different = new Map(values.map((value) => [joinStageKeys(path, value), value]));
    return [path, different.size > 1 ? values : values.slice(0, 1)] as const;
  });
  return Object.fromEntries(needed);
}

/** The options that an arm may be ranked with: every value of its chain and its grid that a stage depends on. */
function listRankedOptions(plans: ByEncoding<Plan>, arm: ArmOptions, arms: ArmsByName): ArmOptions[] {
  const choices = { ...listInheritedChoices(arm, arms), ...arm.tune };
  return listCombinations(withConsequences(plans, arm, choices)).map((point) => withTuned(arm, point));
}

/**
 * The repetitions that rank as their arm does, since none of their stages depends on the seed, with the name of the
 * arm. Reads the data; nothing is embedded or computed.
 */
export function findIdleRepetitions(source: PlanSource): ReadonlyMap<string, string> {
  const { config } = source;
  const repetitions = listArmsToRun(config).filter(({ repeats }) => repeats !== null);
  const plans = createTableGraphs(source);
  const arms = indexArmsByName(config);
  const isIdle = (repetition: ArmOptions) => {
    const { seed } = arms.get(repetition.repeats as string) as ArmOptions;
    const joinStageKeys = (options: ArmOptions) =>
      [...withInputs(listArmStages(plans.get(options), options)).keys()].join();
    return listRankedOptions(plans, repetition, arms).every(
      (options) => joinStageKeys(options) === joinStageKeys({ ...options, seed }),
    );
  };
  return new Map(repetitions.filter(isIdle).map(({ name, repeats }) => [name, repeats as string]));
}

/** Each arm's ranking. @param also further requests of an arm. */
function listRankingRequests(
  workspace: string,
  plans: ByEncoding<Plan>,
  config: ExperimentConfig,
  idle: ReadonlyMap<string, string>,
  also: (plan: Plan, options: ArmOptions) => readonly Stage[] = () => [],
): Request[] {
  const arms = indexArmsByName(config);
  const ranked = listArmsToRun(config).filter(({ name }) => !idle.has(name));
  return ranked.map((arm) =>
    listRankedOptions(plans, arm, arms).map((options) => {
      const plan = plans.get(options);
      const stages = [...listArmStages(plan, options), ...also(plan, options)];
      return collectClosure(`${workspace} ${plans.readKey(options)}`, stages);
    }),
  );
}

/** The exact twins of an arm's approximate sources: the share of them that is found is reported for the first seed. */
function listExactCandidates(plan: Plan, options: ArmOptions): Stage[] {
  if (options.repeats !== null) return [];
  return listApproximateSources(options).map((source) => plan.stage(exactCandidatesOfArm(options, source)));
}

/** The rounds of a race before the last one. Which arms they leave is not known, nor whether a round is large enough to be run. */
function raceRequests(source: PlanSource, race: RaceOptions, idle: ReadonlyMap<string, string>): Request[] {
  const { config } = source;
  const { evaluation } = config;
  return raceShares(race.rounds)
    .slice(0, -1)
    .flatMap((share) => {
      const round = { ...config, evaluation: { ...evaluation, share: share * evaluation.share } };
      return listRankingRequests(`round ${share}`, createTableGraphs({ ...source, config: round }), round, idle).map(
        addEmptyAlternative,
      );
    });
}

/** No stage may be requested instead. */
function addEmptyAlternative(request: Request): Request {
  return [...request, new Map()];
}

/** The stages of a tuned arm's grid, and its values. */
function listTuningRequests(
  plans: ByEncoding<Plan>,
  arm: ArmOptions,
  config: ExperimentConfig,
  arms: ArmsByName,
): Request[] {
  const inherited = listInheritedChoices(arm, arms);
  const listTunedStages = (start: Plain, grid: Choices) =>
    listCombinations(grid).map((point) => withTuned(arm, { ...start, ...point }));
  const choices = Object.entries(withConsequences(plans, arm, { ...inherited, ...arm.tune }));
  const starts = listCombinations(Object.fromEntries(choices.filter(([path]) => !(path in arm.tune))));
  const grid = Object.fromEntries(choices.filter(([path]) => path in arm.tune));
  // Values from different starts have nothing in common, so two starts stand for all.
  const values = [0, -1].map((at) =>
    listTunedStages(pickPoint(inherited, at), arm.tune).map((tuned) => tuningStage(plans.get(tuned), tuned, config)),
  );
  return [
    starts.map((start) =>
      collectClosure(
        'tuning',
        listTunedStages(start, grid).flatMap((tuned) => listArmStages(plans.get(tuned), tuned)),
      ),
    ),
    values.map((stages) => new Map(stages.map((stage) => [stage.key, stage]))),
  ];
}

/** Stages of every alternative. */
function listCertainStages([first, ...others]: Request): [string, Stage][] {
  return [...(first as Stages)].filter(([id]) => others.every((other) => other.has(id)));
}

function countByName(stages: Iterable<Stage>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of stages) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** By name the most that one alternative adds to what is known. */
function countMostAdded(request: Request, known: Stages): Map<string, number> {
  const most = new Map<string, number>();
  for (const alternative of request) {
    const added = [...alternative].filter(([id]) => !known.has(id)).map(([, stage]) => stage);
    for (const [name, count] of countByName(added)) most.set(name, Math.max(most.get(name) ?? 0, count));
  }
  return most;
}

/**
 * Says which stages a config would execute, by name and number, without running it: the data is read, nothing is embedded or computed. Several processes at once may
 * execute more, where two of them make the same stage at the same time.
 */
export function planStages(source: PlanSource): StagePlan {
  const { config } = source;
  assertArmData(source.dataset, listArmsToRun(config));
  assertMetricData(source.dataset, config.evaluation.metrics);
  assertArmAttributes(source.dataset, listArmsToRun(config));
  const tuned = config.arms.filter(({ tune }) => listCombinations(tune).length > 1);
  const tuning = tuned.length === 0 ? null : createTuningGraphs(source);
  const table = createTableGraphs(source);
  const arms = indexArmsByName(config);
  const { race } = config.evaluation;
  const idle = findIdleRepetitions(source);
  const rankings = listRankingRequests('table', table, config, idle, listExactCandidates);
  const requests = [
    ...tuned.flatMap((arm) => listTuningRequests(tuning as ByEncoding<Plan>, arm, config, arms)),
    ...(race === null ? rankings : [...raceRequests(source, race, idle), ...rankings.map(addEmptyAlternative)]),
  ];
  const known: Stages = new Map(requests.flatMap(listCertainStages));
  const open: Stages = new Map(
    requests.flatMap((request) => request.flatMap((stages) => [...stages])).filter(([id]) => !known.has(id)),
  );
  const possible = countByName(open.values());
  const added = requests.map((request) => countMostAdded(request, known));
  const sure = countByName(known.values());
  const names = [...new Set([...sure.keys(), ...possible.keys()])].sort();
  const executions = Object.fromEntries(
    names.map((name) => {
      const most = added.reduce((sum, counts) => sum + (counts.get(name) ?? 0), 0);
      return [name, (sure.get(name) ?? 0) + Math.min(most, possible.get(name) ?? 0)];
    }),
  );
  const total = Object.values(executions).reduce((sum, count) => sum + count, 0);
  return { executions, total, exact: open.size === 0, known: [...known.values()] };
}
