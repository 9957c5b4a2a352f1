import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../core/validation.ts';
import { combinations } from './arms.ts';
import { type ArmOptions, withTuned } from './config.ts';
import type { Plain } from './config-file.ts';

/** An arm with its hyper-parameters set. */
export interface TunedArm {
  readonly options: ArmOptions;
  /** Path -> value, those taken over from the arm that it extends included. */
  readonly tuned: Plain;
}

/** What tuning chose for the arm that this one extends, where this one took the value over unchanged. */
function inheritedPoint(
  arm: ArmOptions,
  parent: { readonly written: ArmOptions; readonly tuned: Plain } | undefined,
): Plain {
  if (parent === undefined) return {};
  const kept = Object.entries(parent.tuned).filter(([path]) => {
    const keys = path.split('.');
    return !(path in arm.tune) && isDeepStrictEqual(valueAt(arm, keys), valueAt(parent.written, keys));
  });
  return Object.fromEntries(kept);
}

/**
 * Chooses each arm's hyper-parameters from its grid, arm after arm: an arm starts from what was chosen for the arm that it extends. Equal values: the first
 * point of the grid.
 *
 * @param measure the mean of the tuning metric on dev.
 */
export async function tuneArms(
  arms: readonly ArmOptions[],
  measure: (arm: ArmOptions) => Promise<number>,
  onArm: (done: number) => void = () => {},
): Promise<TunedArm[]> {
  const result: TunedArm[] = [];
  const written = new Map(arms.map((arm) => [arm.name, arm]));
  for (const arm of arms) {
    const parent = result.find(({ options }) => options.name === arm.extends);
    const inherited = inheritedPoint(
      arm,
      parent && { written: written.get(parent.options.name) as ArmOptions, tuned: parent.tuned },
    );
    let best: { readonly point: Plain; readonly value: number } | undefined;
    const grid = combinations(arm.tune).map((point) => ({ ...inherited, ...point }));
    for (const point of grid.length > 1 ? grid : []) {
      const value = await measure(withTuned(arm, point));
      if (best === undefined || value > best.value) best = { point, value };
    }
    const tuned = best?.point ?? (grid[0] as Plain);
    result.push({ options: withTuned(arm, tuned), tuned });
    onArm(result.length);
  }
  return result;
}
