import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { getValueAt, withNearest } from '../../core/validation/validation.ts';
import type { FittedMix } from '../../rank/learning/fit-options.ts';
import { formatFileName } from '../composition/arms.ts';
import { isPlain, type Plain, parsePath, setPath } from '../composition/config-file.ts';
import type { ArmOptions, ExperimentConfig } from './config-schema.ts';

/** An arm whose mix is fitted. */
export type FittedArm = ArmOptions & { readonly mix: FittedMix };

/** The arm of an experiment that is fitted; null for an experiment that fits none. */
export function findFittedArm({ arms }: Pick<ExperimentConfig, 'arms'>): FittedArm | null {
  return (arms.find(({ mix }) => mix && 'fit' in mix) as FittedArm | undefined) ?? null;
}

/** The arms of an experiment that are not fitted. */
export function listFixedArms(config: Pick<ExperimentConfig, 'arms'>): ArmOptions[] {
  const fitted = findFittedArm(config);
  return config.arms.filter((arm) => arm !== fitted);
}

/** True for an arm that is written out and whose mix is fitted. */
export const hasFit = (arm: unknown) => isPlain(arm) && isPlain(arm.mix) && isPlain(arm.mix.fit);

/** The arm that a null control controls, and the structure it destroys. */
export interface ArmControl {
  readonly of: string;
  readonly kind: string;
}

/** Null for an arm that is no control. */
export function describeControl({ control, extends: of }: ArmOptions): ArmControl | null {
  return control === null ? null : { of: of as string, kind: control.kind }; // the schema asks for the arm that it extends
}

/** The null controls among some arms, by their names. */
export function indexControls(arms: readonly ArmOptions[]): ReadonlyMap<string, ArmControl> {
  return new Map(
    arms.flatMap((arm) => {
      const control = describeControl(arm);
      return control === null ? [] : [[arm.name, control] as const];
    }),
  );
}

/** The arm with tuned values set, unchecked; null if a path does not exist. */
export function applyTunedPoint(arm: ArmOptions, point: Plain): Plain | null {
  const tried: Plain = structuredClone(arm);
  return Object.entries(point).every(([path, value]) => setPath(tried, parsePath(path, tried), value)) ? tried : null;
}

/** The tuned values of the arm that this arm extends, as far as this arm reuses them. */
export function inheritTunedPoint(arm: ArmOptions, parent: ArmOptions, tuned: Plain): Plain {
  const isOwn = (path: string) =>
    arm.differences.some((own) => `${own}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${own}.`));
  const kept = Object.entries(tuned).filter(([path]) => {
    const keys = parsePath(path, arm);
    return !(path in arm.tune) && !isOwn(path) && isDeepStrictEqual(getValueAt(arm, keys), getValueAt(parent, keys));
  });
  return Object.fromEntries(kept);
}

/** The arms that a config runs; those that it only starts others from are left out. */
export function listArmsToRun({ arms, only, evaluation }: ExperimentConfig): readonly ArmOptions[] {
  return only === null ? arms : arms.filter(({ name }) => only.includes(name) || name === evaluation.baseline);
}

/** An arm and the arms that it extends, whose tuned values it reuses. */
export function listArmChain(name: string | undefined, arms: readonly ArmOptions[]): string[] {
  const arm = arms.find((candidate) => candidate.name === name);
  return arm === undefined ? [] : [arm.name, ...listArmChain(arm.extends, arms)];
}

/**
 * A config that runs some arms with their null controls and repetitions, the fitted arm and the baseline. The arms that
 * these extend stay in it, since tuned values come from them, but are not run.
 *
 * @param wanted names of arms, as in the table or of their files; all if empty.
 * @throws ConfigurationError with every unknown name.
 */
export function selectArms(config: ExperimentConfig, wanted: readonly string[]): ExperimentConfig {
  if (wanted.length === 0) return config;
  const names = config.arms.map(({ name }) => name);
  const found = wanted.map((word) => names.find((name) => name === word || formatFileName(name) === word));
  const faults = wanted.flatMap((word, i): ConfigurationFault[] => {
    if (found[i] !== undefined) return [];
    const fault = { path: '--arm', expected: `an arm of ${config.name}`, got: JSON.stringify(word) };
    return [withNearest(fault, word, names)];
  });
  if (faults.length > 0) throw new ConfigurationError('--arm', faults);
  const fitted = findFittedArm(config);
  const byName = new Map(config.arms.map((arm) => [arm.name, arm]));
  const chosen = new Set(found.map((name) => byName.get(name as string)?.repeats ?? name));
  const isWanted = (arm: ArmOptions): boolean => {
    const repeated = arm.repeats === null ? undefined : byName.get(arm.repeats);
    if (repeated !== undefined) return isWanted(repeated);
    const isChosen = chosen.has(arm.name) || (arm.control !== null && chosen.has(arm.extends));
    return isChosen || arm === fitted || arm.name === config.evaluation.baseline;
  };
  const run = config.arms.filter(isWanted).map(({ name }) => name);
  const kept = new Set(run.flatMap((name) => listArmChain(name, config.arms)));
  const arms = config.arms.filter(({ name }) => kept.has(name));
  return { ...config, arms, only: arms.length === run.length ? null : run };
}

function buildRepetition(arm: ArmOptions, seed: number): ArmOptions {
  return {
    ...arm,
    name: `${arm.name} | seed: ${seed}`,
    description: '',
    extends: arm.control === null ? arm.name : arm.extends, // whose tuned values it reuses
    tune: {},
    levels: null,
    differences: [...(arm.control === null ? [] : arm.differences), 'seed'],
    seed,
    repeats: arm.name,
  };
}

/**
 * Adds repetitions of every arm that is run, null controls included, with the seeds that follow its own: encoder,
 * indexes and null control are drawn again, hyper-parameters stay those of the first seed. A repetition that is written
 * out already is not made again.
 *
 * @param seeds how many there are of each arm
 */
export function withRepetitions(config: ExperimentConfig, seeds: number): ExperimentConfig {
  const names = new Set(config.arms.map(({ name }) => name));
  const repetitions = listArmsToRun(config)
    .filter(({ repeats }) => repeats === null)
    .flatMap((arm) =>
      Array.from({ length: seeds - 1 }, (_, i) => buildRepetition(arm, (arm.seed ?? config.seed) + i + 1)),
    )
    .filter(({ name }) => !names.has(name));
  const only = config.only === null ? null : [...config.only, ...repetitions.map(({ name }) => name)];
  return { ...config, arms: [...config.arms, ...repetitions], only };
}

/** An arm as far as repetitions are concerned. */
interface RepeatedArm {
  readonly name: string;
  readonly seed?: number | null | undefined;
  readonly repeats?: string | null | undefined;
}

/**
 * The repetitions among some arms, with the arm that each repeats and its number, from 1: how far its seed is from that
 * of the arm.
 *
 * @param seed of the experiment
 */
export function listRepetitions(
  arms: readonly RepeatedArm[],
  seed: number,
): { readonly arm: string; readonly number: number; readonly name: string }[] {
  const seeds = new Map(arms.map((arm) => [arm.name, arm.seed ?? seed]));
  return arms.flatMap(({ name, repeats }) => {
    if (repeats === null || repeats === undefined) return [];
    return [{ arm: repeats, number: (seeds.get(name) as number) - (seeds.get(repeats) ?? seed), name }];
  });
}
