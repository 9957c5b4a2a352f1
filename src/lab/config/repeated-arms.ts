import type { ArmOptions } from './arm-options.ts';
import { listArmsToRun } from './arm-selection.ts';
import type { ExperimentConfig } from './config-schema.ts';

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
 * Adds repetitions of every arm that is run, null controls included, with the seeds that follow its own: encoder, indexes and null control are drawn again,
 * hyper-parameters stay those of the first seed. A repetition that is written out already is not made again.
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
 * The repetitions among some arms, with the arm that each repeats and its number, from 1: how far its seed is from that of the arm.
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
