import { ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import { listArmStages, type RankOptions } from '../../rank/retrieval/written-steps.ts';
import type { Plan } from '../../rank/signals/plan.ts';
import type { Stage } from '../../rank/signals/stage.ts';
import { countCombinations, listCombinations, OWN_KEYS } from '../composition/arms.ts';
import type { Plain } from '../composition/config-file.ts';
import { CONFIG_LIMITS } from '../composition/yaml-text.ts';
import { applyTunedPoint, inheritTunedPoint, listArmChain } from '../config/arm-selection.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import { armOptions } from '../config/config-schema.ts';
import { tuningVersion } from './environment.ts';

/** Deep enough for the metric: 10 of `mrr@10`, everything for one without a cut-off or with a token budget. */
export function parseMetricCutoff(metric: string, depth: number): number {
  return parseMetric(metric).cutoff ?? depth;
}

/**
 * Keys of an arm that are no part of how it ranks. The encoder, the seed and the slice are in the keys of the stages that the arm consists of, the slice
 * without the address of its kernel.
 */
const UNRANKED: ReadonlySet<string> = new Set([
  ...OWN_KEYS.filter((key) => key !== 'control'),
  'embedding',
  'seed',
  'slice',
]);

/** An arm's options without those that do not affect its rankings: its name, its description, its grid. */
function retrieverPart(arm: RankOptions): RankOptions {
  const own = Object.entries(arm).filter(([key]) => !UNRANKED.has(key));
  return Object.fromEntries(own) as unknown as RankOptions;
}

/** The stage that says how good an arm is on the queries that arms are tuned on: a number, the mean of the tuning metric. */
export function tuningStage(
  plan: Plan,
  arm: RankOptions,
  { tuning: { metric }, evaluation, plugins }: ExperimentConfig,
): Stage {
  const retriever = retrieverPart(arm);
  const depth = parseMetricCutoff(metric, evaluation.depth);
  // A plugin's fusion or metric is no stage of its own.
  const added =
    plugins === undefined ? {} : { plugins: plugins.map(({ name, version, hash }) => [name, version, hash]) };
  const options = { code: tuningVersion(), metric, depth, retriever, ...added };
  return plan.derived('tuning-value', options, listArmStages(plan, retriever));
}

/** An arm with values of a tuning grid in place, which `resolveConfig` has already checked. */
export function withTuned(arm: ArmOptions, point: Plain): ArmOptions {
  return parse(armOptions, applyTunedPoint(arm, point), `arm ${arm.name} with tuned values`);
}

/** Every point that an arm may be tuned to, with the values that it may take over. */
function listPoints(arm: ArmOptions, arms: readonly ArmOptions[]): Plain[] {
  const above = arms.find(({ name }) => name === arm.extends);
  const taken =
    above === undefined ? [{}] : listPoints(above, arms).map((point) => inheritTunedPoint(arm, above, point));
  const distinct = new Map(taken.map((point) => [JSON.stringify(point), point]));
  return [...distinct.values()].flatMap((point) => listCombinations(arm.tune).map((own) => ({ ...point, ...own })));
}

/**
 * What tuning may make of an arm and measures on the way: its own points, and those of each arm of its chain that has
 * several. Null for more points than a config may have.
 */
export function listTunedOptions(name: string, arms: readonly ArmOptions[]): ArmOptions[] | null {
  const chain = listArmChain(name, arms).map((link) => arms.find((arm) => arm.name === link) as ArmOptions);
  const points = chain.reduce((product, { tune }) => product * countCombinations(tune), 1);
  if (points > CONFIG_LIMITS.tunePoints) return null;
  const run = chain.filter(({ tune }, i) => i === 0 || countCombinations(tune) > 1);
  return run.flatMap((arm) => listPoints(arm, chain).map((point) => withTuned(arm, point)));
}

/** An arm with its hyper-parameters set. */
export interface TunedArm {
  readonly options: ArmOptions;
  /** Path -> value, those taken over from the arm that it extends included. */
  readonly tuned: Plain;
}

/**
 * Chooses arms' hyper-parameters from their grids. An arm starts from the tuned values of the arm that it extends, which is tuned first if necessary; so
 * the tuned values of an arm depend on its own chain alone, never on other requested arms. Equal values: the first point of the grid.
 */
export class ArmTuning {
  readonly #arms: ReadonlyMap<string, ArmOptions>;
  readonly #measure: (arm: ArmOptions) => Promise<number>;
  readonly #tuned = new Map<string, Promise<TunedArm>>();

  /** @param measure the mean of the tuning metric on dev. */
  constructor(arms: readonly ArmOptions[], measure: (arm: ArmOptions) => Promise<number>) {
    this.#arms = new Map(arms.map((arm) => [arm.name, arm]));
    this.#measure = measure;
  }

  /** The arm as it is written. @throws ValidationError for an unknown name. */
  #getWrittenArm(name: string): ArmOptions {
    const arm = this.#arms.get(name);
    if (arm === undefined)
      throw new ValidationError(`experiment has no arm: ${name}; use the name of one of its arms`, { name });
    return arm;
  }

  /** The number of points still to measure before the arm is tuned. */
  countPointsLeft(name: string): number {
    if (this.#tuned.has(name)) return 0;
    const arm = this.#getWrittenArm(name);
    const own = listCombinations(arm.tune).length;
    return (own > 1 ? own : 0) + (arm.extends === undefined ? 0 : this.countPointsLeft(arm.extends));
  }

  /** The arms of its chain that have points to measure, the first ones first. */
  listTunedChain(name: string): ArmOptions[] {
    const arm = this.#getWrittenArm(name);
    const above = arm.extends === undefined ? [] : this.listTunedChain(arm.extends);
    return listCombinations(arm.tune).length > 1 ? [...above, arm] : above;
  }

  /** @param onPoint is called after each point that was measured, also one of an arm that this one extends. */
  tuneNamedArm(name: string, onPoint: () => void = () => {}): Promise<TunedArm> {
    return getOrCompute(this.#tuned, name, () => this.#tune(this.#getWrittenArm(name), onPoint));
  }

  async #tune(arm: ArmOptions, onPoint: () => void): Promise<TunedArm> {
    const inherited =
      arm.extends === undefined
        ? {}
        : inheritTunedPoint(
            arm,
            this.#getWrittenArm(arm.extends),
            (await this.tuneNamedArm(arm.extends, onPoint)).tuned,
          );
    const grid = listCombinations(arm.tune).map((point) => ({ ...inherited, ...point }));
    let best: { readonly point: Plain; readonly value: number } | undefined;
    for (const point of grid.length > 1 ? grid : []) {
      const value = await this.#measure(withTuned(arm, point));
      if (best === undefined || value > best.value) best = { point, value };
      onPoint();
    }
    const tuned = best?.point ?? (grid[0] as Plain);
    return { options: withTuned(arm, tuned), tuned };
  }
}
