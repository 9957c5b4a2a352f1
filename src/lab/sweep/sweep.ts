import { z } from 'zod';
import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import {
  describeUnknownArm,
  type ExpandedArm,
  findExpandedArm,
  OWN_KEYS,
  selectInheritable,
} from '../composition/arms.ts';
import { isPlain, listLeafPaths, merge, type Plain, setPath } from '../composition/config-file.ts';
import { mergeSteps, resolveArmPath, withPlacedSteps } from '../composition/named-arms.ts';
import { expandShortSteps, expandShortValue, findReplacement } from '../composition/short-steps.ts';
import { type Factor, findLevelFaults, listIntervalEnds, readFactor } from './sweep-factors.ts';
import {
  buildSweepDesign,
  countSweepArms,
  findSweepSizeFaults,
  formatPoint,
  listSweepPoints,
  type Point,
  type SweepDesign,
  type SweepOptions,
  sweepDesign,
  sweepOptions,
} from './sweep-points.ts';

/** Separates the arm that a sweep starts from and its changes, in the name of an arm. */
export const SWEPT = ' | ';

interface ExpandedSweep {
  readonly arms: readonly ExpandedArm[];
  /** Arms to check with the others, not to run. */
  readonly probes: readonly ExpandedArm[];
  readonly design: SweepDesign | null;
  readonly faults: readonly ConfigurationFault[];
}

/** Errors for keys of earlier arms in named levels. */
function findFormerKeys({ name, levels }: Factor): ConfigurationFault[] {
  return levels.flatMap(({ name: level, layer: { at, content } }) =>
    Object.keys(at.length === 0 ? (content as Plain) : {}).flatMap((key) => {
      const expected = findReplacement(key);
      if (expected === undefined || OWN_KEYS.includes(key)) return [];
      return [{ path: `sweep.factors.${name}.${level}.${key}`, expected, got: JSON.stringify(key) }];
    }),
  );
}

/** The expectation of an error about a path that leads nowhere. */
function describePath(path: string): string {
  const [first = ''] = path.split('.');
  const replacement = OWN_KEYS.includes(first) ? undefined : findReplacement(first);
  return `a path to an option of the arm${replacement === undefined ? '' : `; ${replacement}`}`;
}

/** A factor's path that leads nowhere in the arm that the sweep starts from. */
function findStrayPaths({ name, levels, range }: Factor, start: Plain): ConfigurationFault[] {
  const paths = [...(range === null ? [] : [range.path]), ...levels.map(({ layer }) => layer.at.join('.'))];
  const isLeading = (path: string) => {
    const keys = resolveArmPath(start, path);
    return keys !== null && !OWN_KEYS.includes(keys[0] as string) && setPath(structuredClone(start), keys, null);
  };
  return [...new Set(paths)]
    .filter((path) => path !== '' && !isLeading(path))
    .map((path) => ({
      path: `sweep.factors.${name}`,
      expected: describePath(path),
      got: JSON.stringify(path),
    }));
}

/** A part of an arm as a level writes it: options of steps in full, and whole paths to tune. */
function readPart(content: Plain, arm: Plain): Plain {
  const { tune, ...steps } = content;
  const part = expandShortSteps(arm, steps);
  if (!isPlain(tune)) return tune === undefined ? part : { ...part, tune };
  const whole = merge(arm, part);
  const resolved = Object.entries(tune).map(([path, values]) => [
    resolveArmPath(whole, path)?.join('.') ?? path,
    values,
  ]);
  return { ...part, tune: Object.fromEntries(resolved) };
}

function buildSweptArm(arm: string, start: ExpandedArm, point: Point): ExpandedArm {
  let options: Plain = structuredClone(selectInheritable(start.options as Plain));
  const layers = point.map(([, { layer }]) => ({
    ...layer,
    at: resolveArmPath(options, layer.at.join('.')) ?? layer.at,
  }));
  for (const layer of layers)
    if (layer.at.length > 0) setPath(options, layer.at, expandShortValue(options, layer.at, layer.content));
    else options = withPlacedSteps(mergeSteps(options, readPart(layer.content as Plain, options)));
  const differences = layers.flatMap((layer) =>
    layer.at.length > 0 ? [layer.at] : listLeafPaths(selectInheritable(layer.content as Plain)),
  );
  const own = {
    name: `${arm}${SWEPT}${formatPoint(point)}`,
    extends: arm,
    levels: Object.fromEntries(point.map(([factor, { name }]) => [factor, name])),
    differences: differences.map((path) => path.join('.')),
  };
  return {
    options: { ...options, ...own },
    layers: [...start.layers, ...layers],
    keyPath: null,
  };
}

/**
 * Arms that are checked and not run: the ends of each interval, independent of the draws; and each level alone of a sweep that cannot be resolved, so that
 * all its errors are reported at once.
 */
function listSweepProbes(
  arm: string,
  start: ExpandedArm,
  factors: readonly Factor[],
  isFaulty: boolean,
): ExpandedArm[] {
  const points = factors.flatMap((factor) =>
    [...listIntervalEnds(factor), ...(isFaulty ? factor.levels : [])].map((level): Point => [[factor.name, level]]),
  );
  const byLabel = new Map(points.map((point) => [formatPoint(point), point]));
  return [...byLabel.values()].map((point) => buildSweptArm(arm, start, point));
}

const returnNoArms = (faults: readonly ConfigurationFault[]): ExpandedSweep => ({
  arms: [],
  probes: [],
  design: null,
  faults,
});

/** All arms of a sweep whose options are in order. */
function expand(sweep: SweepOptions, factors: readonly Factor[], seed: number, start: ExpandedArm): ExpandedSweep {
  const stray = factors.flatMap((factor) => findStrayPaths(factor, start.options as Plain));
  const former = factors.flatMap(findFormerKeys);
  const faults = [...factors.flatMap(findLevelFaults), ...former, ...stray, ...findSweepSizeFaults(sweep, factors)];
  if (faults.length > 0) return { ...returnNoArms(faults), probes: listSweepProbes(sweep.arm, start, factors, true) };
  const points = listSweepPoints(sweep, factors, seed);
  const size = countSweepArms(sweep, factors);
  if (points.length < size)
    return returnNoArms([
      { path: 'sweep.samples', expected: `at most about ${points.length} different points`, got: `${size}` },
    ]);
  return {
    arms: points.map((point) => buildSweptArm(sweep.arm, start, point)),
    probes: listSweepProbes(sweep.arm, start, factors, false),
    design: buildSweepDesign(sweep, factors, points),
    faults: [],
  };
}

/**
 * Writes the arms of a sweep out: ordinary arms that extend the one it starts from, named `<arm> | factor=level, factor=level`. `grid` and `factorial` are all
 * combinations, `one-factor` each level of each factor alone, `random` a number of points drawn from one stream per factor, no two alike.
 *
 * @param raw as written; or a {@link sweepDesign}, whose arms are there already.
 * @param seed of the experiment.
 */
export function expandSweep(raw: unknown, arms: readonly ExpandedArm[], seed: number): ExpandedSweep {
  if (raw === undefined || raw === null) return returnNoArms([]);
  if (isPlain(raw) && Array.isArray(raw.factors)) {
    const written = check(z.object({ sweep: sweepDesign }), { sweep: raw });
    return 'faults' in written ? returnNoArms(written.faults) : { ...returnNoArms([]), design: written.value.sweep };
  }
  const result = check(z.object({ sweep: sweepOptions }), { sweep: raw });
  if ('faults' in result) return returnNoArms(result.faults);
  const { sweep } = result.value;
  const read = Object.entries(sweep.factors).map(([name, factor]) => readFactor(name, factor));
  const factors = read.flatMap((one) => ('factor' in one ? [one.factor] : []));
  const start = findExpandedArm(arms, sweep.arm);
  const faults = read.flatMap((one) => ('faults' in one ? one.faults : []));
  if (start === undefined) {
    const names = arms.flatMap(({ options }) => (isPlain(options) ? [String(options.name)] : []));
    return returnNoArms([...faults, describeUnknownArm({ path: 'sweep.arm', expected: 'an arm' }, sweep.arm, names)]);
  }
  if (faults.length === 0) return expand(sweep, factors, seed, start);
  return { ...returnNoArms(faults), probes: listSweepProbes(sweep.arm, start, factors, true) };
}
