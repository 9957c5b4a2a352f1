import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { withNearest } from '../../core/validation/validation.ts';
import { formatFileName } from '../composition/arms.ts';
import type { ArmOptions } from './arm-options.ts';
import type { ExperimentConfig } from './config-schema.ts';

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
 * A config that runs some arms with their null controls and repetitions, and the baseline. The arms that these extend stay in it, since tuned values come from them, but are
 * not run.
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
  const byName = new Map(config.arms.map((arm) => [arm.name, arm]));
  const chosen = new Set(found.map((name) => byName.get(name as string)?.repeats ?? name));
  const isWanted = (arm: ArmOptions): boolean => {
    const repeated = arm.repeats === null ? undefined : byName.get(arm.repeats);
    if (repeated !== undefined) return isWanted(repeated);
    const isChosen = chosen.has(arm.name) || (arm.control !== null && chosen.has(arm.extends));
    return isChosen || arm.name === config.evaluation.baseline;
  };
  const run = config.arms.filter(isWanted).map(({ name }) => name);
  const kept = new Set(run.flatMap((name) => listArmChain(name, config.arms)));
  const arms = config.arms.filter(({ name }) => kept.has(name));
  return { ...config, arms, only: arms.length === run.length ? null : run };
}
