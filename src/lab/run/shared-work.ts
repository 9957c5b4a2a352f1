import { existsSync } from 'node:fs';
import { getOrCompute } from '../../core/values/once.ts';
import { listArmStages } from '../../rank/retrieval/written-steps.ts';
import { Plan, type StageRoots, withInputs } from '../../rank/signals/plan.ts';
import type { StageUse } from '../../rank/signals/signal.ts';
import type { CandidatePool, PoolRows, Stage, StageCounts } from '../../rank/signals/stage.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ControlOptions } from '../../rank/signals/worlds/world-parts.ts';
import { listCombinations } from '../composition/arms.ts';
import type { Plain } from '../composition/config-file.ts';
import { inheritTunedPoint, listArmsToRun } from '../config/arm-selection.ts';
import type { ArmOptions } from '../config/config.ts';
import type { SharedRequest, SharedTask, SharedWork, StageRequest } from '../launch/launcher.ts';
import type { ArmRunner } from './arm-runner.ts';
import { StageCache } from './stage-cache.ts';
import { withTuned } from './tuning.ts';
import { type ByEncoding, createTableGraphs, createTuningGraphs } from './workspaces.ts';

/** A stage with what computes it, and the null control in whose world it is. */
interface PlannedUse {
  readonly use: StageUse<unknown>;
  readonly control: ControlOptions | null;
}

/** A plan that knows how each of its stages is computed. */
class PlanOfUses extends Plan {
  readonly uses: Map<string, PlannedUse>;
  readonly #roots: StageRoots;

  constructor(roots: StageRoots, control: ControlOptions | null = null, uses = new Map<string, PlannedUse>()) {
    super(roots, control);
    this.#roots = roots;
    this.uses = uses;
  }

  override under(control: ControlOptions | null): Plan {
    return control === this.control ? this : new PlanOfUses(this.#roots, control, this.uses);
  }

  override stage(use: StageUse<unknown>, pool?: Stage): Stage {
    const stage = super.stage(use, pool);
    this.uses.set(stage.key, { use, control: this.seeing(use.reads).control });
    return stage;
  }
}

type Workspaces = 'tuning' | 'table';
const plans = new WeakMap<ArmRunner, Partial<Record<Workspaces, ByEncoding<Plan>>>>();

/** The plans of a runner's workspaces, made once. */
function openPlans(runner: ArmRunner, workspace: Workspaces): ByEncoding<Plan> {
  const source = { ...runner.source, createPlan: (roots: StageRoots) => new PlanOfUses(roots) };
  const known = plans.get(runner) ?? {};
  const opened = known[workspace] ?? (workspace === 'table' ? createTableGraphs(source) : createTuningGraphs(source));
  plans.set(runner, { ...known, [workspace]: opened });
  return opened;
}

/** An arm with the first or the last value of everything that is tuned, inherited values included. */
function pickEnd(arm: ArmOptions, arms: readonly ArmOptions[], end: 0 | -1): ArmOptions {
  const pickPoint = (link: ArmOptions): Plain => {
    const above = arms.find(({ name }) => name === link.extends);
    const own = Object.fromEntries(Object.entries(link.tune).map(([path, values]) => [path, values.at(end)]));
    return { ...(above === undefined ? {} : inheritTunedPoint(link, above, pickPoint(above))), ...own };
  };
  return withTuned(arm, pickPoint(arm));
}

/** The stages that an arm needs whatever its tuning chooses, inputs before what needs them. */
function listCertainStages(runner: ArmRunner, arm: ArmOptions, workspace: Workspaces): Stage[] {
  const [first, last] = ([0, -1] as const).map((end) => {
    const options = pickEnd(arm, runner.source.config.arms, end);
    return withInputs(listArmStages(openPlans(runner, workspace).get(options), options));
  });
  return [...(first as ReadonlyMap<string, Stage>).values()].filter(({ key }) => last?.has(key));
}

/** The kept stages that some arms and the tuning of them need whatever tuning chooses, each once. */
export function listCertainStagesOf(runner: ArmRunner, names: readonly string[]): Stage[] {
  const arms = runner.source.config.arms.filter(({ name }) => names.includes(name));
  const stages = arms.flatMap((arm) => [
    ...listCertainStages(runner, arm, 'table'),
    ...runner.tuning.listTunedChain(arm.name).flatMap((above) => listCertainStages(runner, above, 'tuning')),
  ]);
  return [...new Map(stages.filter(({ isKept }) => isKept).map((stage) => [stage.key, stage])).values()];
}

/** The stages on disk that a stage is computed from, those of inputs that are not kept included. */
const listKeptInputs = ({ inputs }: Stage): string[] =>
  inputs.flatMap((input) => (input.isKept ? [input.key] : listKeptInputs(input)));

/** True if a stage is computed from vectors, those of its inputs on disk left aside. */
function readsVectors({ uses }: PlanOfUses, { key }: Stage): boolean {
  const { reads } = (uses.get(key) as PlannedUse).use;
  return reads.includes('vectors') || reads.includes('tokens');
}

/** The task that opens a workspace with the encoder of an arm. */
function openingTask(runner: ArmRunner, arm: ArmOptions, workspace: Workspaces): SharedTask {
  const id = `${workspace} ${runner.tuningWorkspaces.readKey(arm)}`;
  return { id, needs: [], place: workspace, request: { arm: arm.name, workspace } };
}

/** Takes the cost of tasks on behalf of an arm. */
const noteOn =
  (runner: ArmRunner, name: string): SharedWork['note'] =>
  (stages) =>
    void runner.shared.push({ name, stages });

/** The tasks of {@link planSharedWork} that need the data alone. */
export function planOpenings(runner: ArmRunner): SharedWork {
  const arms = listArmsToRun(runner.source.config).filter(({ repeats }) => repeats === null);
  const tasks = arms.flatMap((arm) => [
    openingTask(runner, arm, 'table'),
    ...runner.tuning.listTunedChain(arm.name).map((above) => openingTask(runner, above, 'tuning')),
  ]);
  const distinct = new Map(tasks.map((task) => [task.id, task]));
  return { tasks: [...distinct.values()], needs: new Map(), note: noteOn(runner, arms[0]?.name as string) };
}

/**
 * Plans what several processes do before the arms, each task once: the workspaces, whose texts are embedded where they
 * are not yet, the stages that arms need whatever tuning chooses and that the cache does not have, then the grids of
 * the arms in parts.
 *
 * @param names of the arms to be run.
 * @param parts of each grid.
 */
export function planSharedWork(runner: ArmRunner, names: readonly string[], parts: number): SharedWork {
  const { cacheFolder, config } = runner.source;
  const store = new StageCache(cacheFolder as string);
  const tasks = new Map<string, SharedTask>();
  const needs = new Map<string, readonly string[]>();
  const addOpening = (arm: ArmOptions, workspace: Workspaces): string => {
    const task = openingTask(runner, arm, workspace);
    if (!tasks.has(task.id)) tasks.set(task.id, task);
    return task.id;
  };
  const addStages = (arm: ArmOptions, workspace: Workspaces): string[] => {
    const opening = addOpening(arm, workspace);
    const stages = listCertainStages(runner, arm, workspace).flatMap((stage) => {
      if (!stage.isKept || existsSync(store.joinStagePath(stage))) return [];
      const withoutVectors = !readsVectors(openPlans(runner, workspace).get(arm) as PlanOfUses, stage);
      const request = { arm: arm.name, workspace, stage: stage.key, withoutVectors };
      const needs = [...(withoutVectors ? [] : [opening]), ...listKeptInputs(stage)];
      const place = withoutVectors ? `${workspace} without vectors` : workspace;
      const task = { id: stage.key, needs, place, request };
      if (!tasks.has(stage.key)) tasks.set(stage.key, task);
      return [stage.key];
    });
    return [opening, ...stages];
  };
  const grids = new Map<string, readonly string[]>();
  const addParts = (above: readonly string[], arm: ArmOptions): readonly string[] =>
    getOrCompute(grids, arm.name, () => {
      const own = [...addStages(arm, 'tuning'), ...above];
      return Array.from({ length: parts }, (_, part) => {
        const id = `${part} of ${parts}: ${arm.name}`;
        tasks.set(id, { id, needs: own, place: 'tuning', request: { arm: arm.name, part, parts } });
        return id;
      });
    });
  for (const name of names) {
    const arm = config.arms.find((one) => one.name === name) as ArmOptions;
    const tuned = runner.tuning.listTunedChain(name).reduce<readonly string[]>(addParts, []);
    needs.set(name, [...addStages(arm, 'table'), ...tuned]);
  }
  return { tasks: [...tasks.values()], needs, note: noteOn(runner, names[0] as string) };
}

/** Computes a stage of a plan in a workspace, or reads it. */
async function computeStage(
  workspace: Workspace,
  stage: Stage,
  uses: ReadonlyMap<string, PlannedUse>,
): Promise<unknown> {
  const { use, control } = uses.get(stage.key) as PlannedUse;
  const [first] = stage.inputs;
  if (use.of !== 'pairs' || first === undefined) return workspace.under(control).get(use);
  const rows = (await computeStage(workspace, first, uses)) as PoolRows;
  const pool: CandidatePool = { ...rows, stage: first };
  return workspace.under(control).get(use, pool);
}

/** Opens a workspace, and makes a stage there where one is named. */
async function makeStage(runner: ArmRunner, arm: ArmOptions, request: StageRequest): Promise<void> {
  const { workspace, stage: key, withoutVectors } = request;
  const options = pickEnd(arm, runner.source.config.arms, 0);
  const openings = {
    table: () => runner.openArmWorkspace(options),
    tuning: () => runner.tuningWorkspaces.get(options),
  };
  const opened = await (withoutVectors ? runner.openWithoutVectors(workspace, options) : openings[workspace]());
  if (key === undefined) return;
  const plan = openPlans(runner, workspace).get(options) as PlanOfUses;
  const stage = withInputs(listArmStages(plan, options)).get(key);
  if (stage !== undefined) await computeStage(opened, stage, plan.uses);
}

/** Measures a part of the points of an arm's grid, whose values are kept. The arm that it extends is tuned first. */
async function measurePart(runner: ArmRunner, arm: ArmOptions, part: number, parts: number): Promise<void> {
  const above = runner.source.config.arms.find(({ name }) => name === arm.extends);
  const tuned = above === undefined ? {} : (await runner.tuning.tuneNamedArm(above.name)).tuned;
  const inherited = above === undefined ? {} : inheritTunedPoint(arm, above, tuned);
  const points = listCombinations(arm.tune);
  const [first, last] = [part, part + 1].map((edge) => Math.round((edge * points.length) / parts));
  for (const point of points.slice(first, last))
    await runner.measureTuningMetric(withTuned(arm, { ...inherited, ...point }));
}

/**
 * Does a task of {@link planSharedWork}. What fails is left to the arms, which fail of it by themselves.
 *
 * @returns the cost.
 */
export async function doSharedWork(runner: ArmRunner, request: SharedRequest): Promise<StageCounts> {
  try {
    const arm = runner.source.config.arms.find(({ name }) => name === request.arm) as ArmOptions;
    if ('part' in request) await measurePart(runner, arm, request.part, request.parts);
    else await makeStage(runner, arm, request);
  } catch {
    // the arms that need it fail of the same, each with its own record
  }
  return runner.takeStageCounts();
}
