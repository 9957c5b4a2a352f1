import type { ConfigurationFault } from '../core/errors.ts';
import { nearestOf } from '../core/validation.ts';
import { isPlain, merge, type Plain } from './config-file.ts';

/** Keys that belong to one arm alone and are not taken over by the arms that extend it. */
export const OWN_KEYS: readonly string[] = ['name', 'description', 'extends', 'tune'];

/** An arm's name as a file and as a run tag: `+ IRCP, directed` is `ircp-directed`. */
export function fileName(armName: string): string {
  return armName
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

function unknownParent(path: string, wanted: unknown, earlier: readonly Plain[]): ConfigurationFault {
  const names = earlier.map((arm) => String(arm.name));
  const nearest = nearestOf(String(wanted), names);
  const fault = {
    path,
    expected: `an arm before it (${names.join(', ') || 'there is none'})`,
    got: JSON.stringify(wanted),
  };
  return nearest === undefined ? fault : { ...fault, nearest };
}

/**
 * Writes each arm out in full: the arm that it extends, with its own keys over it.
 *
 * @returns as many arms as were given, still unchecked, and a fault for each that extends one that does not stand before it.
 */
export function expandArms(raw: readonly unknown[]): {
  readonly arms: readonly unknown[];
  readonly faults: ConfigurationFault[];
} {
  const expanded: unknown[] = [];
  const faults: ConfigurationFault[] = [];
  for (const [index, arm] of raw.entries()) {
    if (!isPlain(arm) || arm.extends === undefined) {
      expanded.push(arm);
      continue;
    }
    const earlier = expanded.filter(isPlain);
    const parent = earlier.find(({ name }) => name === arm.extends);
    if (parent === undefined) faults.push(unknownParent(`arms[${index}].extends`, arm.extends, earlier));
    const inherited = Object.entries(parent ?? {}).filter(([key]) => !OWN_KEYS.includes(key));
    expanded.push(merge(Object.fromEntries(inherited), arm));
  }
  return { arms: expanded, faults };
}

/** All combinations of the values of each path, the last path changing fastest; one empty combination where nothing is tuned. */
export function combinations(tune: Readonly<Record<string, readonly unknown[]>>): Plain[] {
  return Object.entries(tune).reduce<Plain[]>(
    (grid, [path, values]) => grid.flatMap((point) => values.map((value) => ({ ...point, [path]: value }))),
    [{}],
  );
}
