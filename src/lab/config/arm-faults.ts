import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { check, shortenToExcerpt } from '../../core/validation/validation.ts';
import {
  countCombinations,
  describeUnknownArm,
  formatFileName,
  listCombinations,
  OWN_KEYS,
} from '../composition/arms.ts';
import { isPlain, type Plain } from '../composition/config-file.ts';
import { CONFIG_LIMITS } from '../composition/config-limits.ts';
import { SWEPT } from '../sweep/sweep.ts';
import { type ArmOptions, armOptions } from './arm-options.ts';
import { applyTunedPoint } from './tuned-arm.ts';

/** Arms with a name that an arm before them has. */
export function findDuplicateNames(arms: readonly unknown[]): ConfigurationFault[] {
  const known = new Set<string>();
  return arms.flatMap((arm, i) => {
    if (!isPlain(arm) || typeof arm.name !== 'string') return [];
    const name = formatFileName(arm.name);
    const isKnown = known.has(name);
    known.add(name);
    return isKnown
      ? [{ path: `arms[${i}].name`, expected: 'a name that no arm before it has', got: JSON.stringify(name) }]
      : [];
  });
}

/** Names of unknown arms; omits arms that an invalid sweep would have generated. */
export function findNameFaults(
  { evaluation, only }: Plain,
  arms: readonly unknown[],
  faults: readonly ConfigurationFault[],
): ConfigurationFault[] {
  const names = arms.flatMap((arm) => (isPlain(arm) && typeof arm.name === 'string' ? [arm.name] : []));
  const wanted: [path: string, name: unknown][] = [
    ['evaluation.baseline', isPlain(evaluation) ? evaluation.baseline : undefined],
    ...(Array.isArray(only) ? only.map((name, i): [string, unknown] => [`only[${i}]`, name]) : []),
  ];
  const known = new Set(names);
  const isSweepAtFault = faults.some(({ path }) => path.startsWith('sweep'));
  const unknown = wanted.filter(
    ([, name]) =>
      typeof name === 'string' && known.size > 0 && !known.has(name) && !(name.includes(SWEPT) && isSweepAtFault),
  );
  return unknown.map(([path, name], i) => describeUnknownArm({ path, expected: 'an arm' }, name, names, i));
}

/** Checks every value that tuning would try before anything runs; omits an arm that is invalid without tuning. */
export function findTuneFaults(arm: unknown, index: number): ConfigurationFault[] {
  if (!isPlain(arm) || !isPlain(arm.tune) || Object.keys(arm.tune).length === 0) return [];
  const untuned = check(armOptions, arm);
  if ('faults' in untuned) return [];
  const resolved: ArmOptions = untuned.value;
  const { tune } = resolved;
  const path = `arms[${index}].tune`;
  const stray = Object.keys(tune).filter((key) => !isTunable(resolved, key));
  if (stray.length > 0)
    return stray.map((key) => ({ path, expected: 'a path to an option of the arm', got: JSON.stringify(key) }));
  if (countCombinations(tune) > CONFIG_LIMITS.tunePoints) return []; // an error of its own
  return listCombinations(tune).flatMap((point) => {
    const tried = check(armOptions, applyTunedPoint(resolved, point));
    return 'faults' in tried
      ? tried.faults.map((fault) => ({ ...fault, path: `${path}${locateTried(fault, tune)}` }))
      : [];
  });
}

/** The key or value of a grid that an error is about; for an error at another path, that path after a colon. */
function locateTried({ path, got }: ConfigurationFault, tune: ArmOptions['tune']): string {
  const values = tune[path];
  if (values === undefined) return `: ${path}`;
  const at = values.findIndex((value) => shortenToExcerpt(value) === got);
  return at < 0 ? `.${path}` : `.${path}[${at}]`;
}

/** The number of tuning points of all arms together, and the number of arms. */
export function findSizeFaults(arms: readonly unknown[]): ConfigurationFault[] {
  const { arms: mostArms, tunePoints: mostPoints } = CONFIG_LIMITS;
  if (arms.length > mostArms)
    return [
      {
        path: 'arms',
        expected: `at most ${mostArms} arms, with those of a sweep and null controls`,
        got: `${arms.length}; write fewer`,
      },
    ];
  let points = 0;
  for (const [i, arm] of arms.entries()) {
    const grid = isPlain(arm) && isPlain(arm.tune) ? arm.tune : {};
    const lists = Object.entries(grid).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
    if (lists.length > 0) points += countCombinations(Object.fromEntries(lists));
    if (points <= mostPoints) continue;
    const expected = `at most ${mostPoints} points in the grids of all arms`;
    return [{ path: `arms[${i}].tune`, expected, got: `${points} up to this arm; list fewer values` }];
  }
  return [];
}

function isTunable(arm: ArmOptions, path: string): boolean {
  return !OWN_KEYS.includes(path.split('.')[0] as string) && applyTunedPoint(arm, { [path]: null }) !== null;
}
