import { getValueAt } from '../../core/validation/validation.ts';
import { listCombinations } from '../composition/arms.ts';
import { listArmsToRun } from './arm-selection.ts';
import type { ArmOptions, ExperimentConfig } from './config-schema.ts';

/** An arm as the named difference that it is. */
export interface ArmSummary {
  readonly name: string;
  /** The arm that it extends; null for one that starts from the base. */
  readonly extends: string | null;
  /** Path -> value, of the options that it changes from its start. */
  readonly differences: Readonly<Record<string, unknown>>;
  /** The number of points of its tuning grid, 0 without tuning. */
  readonly points: number;
  /** False for an arm that others only start from. */
  readonly isRun: boolean;
}

/** A written path, or what of it is left where the value was rewritten: a preset of propagation stands for the other options. */
function trimToKeptPath(arm: ArmOptions, path: string): string {
  const keys = path.split('.');
  const kept =
    keys.length - keys.findIndex((_, cut) => getValueAt(arm, keys.slice(0, keys.length - cut)) !== undefined);
  return keys.slice(0, kept).join('.');
}

function listOptionDifferences(arm: ArmOptions): Record<string, unknown> {
  const paths = arm.differences.map((path) => trimToKeptPath(arm, path));
  return Object.fromEntries(paths.map((path) => [path, getValueAt(arm, path.split('.'))]));
}

/** A summary of each arm of a config, in their order. */
export function summariseArms(config: ExperimentConfig): ArmSummary[] {
  const run = new Set(listArmsToRun(config));
  return config.arms.map((arm) => {
    const points = listCombinations(arm.tune).length;
    return {
      name: arm.name,
      extends: arm.extends ?? null,
      differences: listOptionDifferences(arm),
      points: points > 1 ? points : 0,
      isRun: run.has(arm),
    };
  });
}
