import { z } from 'zod';
import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { check } from '../../core/validation/validation.ts';
import {
  describeUnknownArm,
  type ExpandedArm,
  expandShortSteps,
  expandShortValue,
  findExpandedArm,
  findReplacement,
  OWN_KEYS,
  selectInheritable,
} from '../composition/arms.ts';
import { isPlain, listLeafPaths, merge, type Plain, setPath } from '../composition/config-file.ts';
import { mergeSteps, resolveArmPath, withPlacedSteps } from '../composition/named-arms.ts';
import { CONFIG_LIMITS } from '../composition/yaml-text.ts';
import {
  countLevels,
  drawLevel,
  type Factor,
  findLevelFaults,
  type Level,
  listIntervalEnds,
  readFactor,
} from './sweep-factors.ts';

const common = {
  /** The arm that every arm of the sweep extends. */
  arm: z.string(),
  /** The varied options: see {@link readFactor}. */
  factors: z
    .record(z.string(), z.unknown())
    .refine((factors) => Object.keys(factors).length > 0, 'at least one factor'),
  /** A sweep of more arms is an error. */
  limit: z.int().min(1).max(CONFIG_LIMITS.arms).default(1000),
};

/** A sweep as written. */
export const sweepOptions = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('grid'), ...common }),
  z.strictObject({ method: z.literal('factorial'), ...common }),
  z.strictObject({ method: z.literal('one-factor'), ...common }),
  z.strictObject({
    method: z.literal('random'),
    ...common,
    samples: z.int().min(1),
    /** By default the experiment's. */
    seed: z.int().optional(),
  }),
]);
export type SweepOptions = z.output<typeof sweepOptions>;

/** The design of a sweep whose arms are resolved. */
export const sweepDesign = z.strictObject({
  method: z.enum(['grid', 'factorial', 'one-factor', 'random']),
  arm: z.string(),
  factors: z.array(z.strictObject({ name: z.string(), levels: z.array(z.string()) })),
});
/**
 * The resolved design of a sweep: its method, the arm that all arms of the sweep extend, and the levels of each factor.
 */
type SweepDesign = z.output<typeof sweepDesign>;

/** A future arm: a level of some or all of the factors. */
type Point = readonly (readonly [factor: string, level: Level])[];

/** The number of failed draws per requested point from which a space counts as exhausted. */
const PATIENCE = 100;

function listGridPoints(factors: readonly Factor[]): Point[] {
  return factors.reduce<Point[]>(
    (points, { name, levels }) => points.flatMap((point) => levels.map((level) => [...point, [name, level] as const])),
    [[]],
  );
}

/** Points at random, no two alike; fewer than requested if there are no more. */
function drawSweepPoints(factors: readonly Factor[], samples: number, seed: number): Point[] {
  const streams = factors.map((factor) => ({ factor, stream: createRandom(seed, `sweep/${factor.name}`) }));
  const points = new Map<string, Point>();
  for (let draw = 0; draw < samples * PATIENCE && points.size < samples; draw++) {
    const point = streams.map(({ factor, stream }) => [factor.name, drawLevel(factor, stream)] as const);
    points.set(formatPoint(point), point);
  }
  return [...points.values()];
}

export function formatPoint(point: Point): string {
  return point.map(([factor, { name }]) => `${factor}=${name}`).join(', ');
}

export function listSweepPoints(sweep: SweepOptions, factors: readonly Factor[], seed: number): Point[] {
  switch (sweep.method) {
    case 'random':
      return drawSweepPoints(factors, sweep.samples, sweep.seed ?? seed);
    case 'one-factor':
      return factors.flatMap(({ name, levels }) => levels.map((level) => [[name, level] as const]));
    default:
      return listGridPoints(factors);
  }
}

/** The number of arms that a sweep requests. */
export function countSweepArms(sweep: SweepOptions, factors: readonly Factor[]): number {
  if (sweep.method === 'random') return sweep.samples;
  const counts = factors.map(countLevels);
  if (sweep.method === 'one-factor') return counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce((product, count) => product * count, 1);
}

/** Errors of a sweep as a whole. */
function findSweepSizeFaults(sweep: SweepOptions, factors: readonly Factor[]): ConfigurationFault[] {
  const intervals = factors.filter(({ range }) => range !== null && sweep.method !== 'random');
  if (intervals.length > 0)
    return intervals.map(({ name }) => ({
      path: `sweep.factors.${name}`,
      expected: 'a list of values or levels by name, since only method random draws from an interval',
      got: sweep.method,
    }));
  if (sweep.method === 'factorial' && factors.length < 2)
    return [{ path: 'sweep.factors', expected: 'two factors or more, to interact', got: String(factors.length) }];
  const size = countSweepArms(sweep, factors);
  const space = factors.map(countLevels).reduce((product, count) => product * count, 1);
  if (size > sweep.limit)
    return [
      { path: 'sweep.limit', expected: `a number of arms as large as the sweep, ${size}`, got: `${sweep.limit}` },
    ];
  if (sweep.method === 'random' && size > space)
    return [{ path: 'sweep.samples', expected: `at most ${space}, the number of combinations`, got: String(size) }];
  return [];
}

/** The factors with the levels that the points have, those of an interval in the order of their size. */
function buildSweepDesign(
  { method, arm }: SweepOptions,
  factors: readonly Factor[],
  points: readonly Point[],
): SweepDesign {
  return {
    method,
    arm,
    factors: factors.map(({ name, levels, range }) => {
      if (range === null) return { name, levels: levels.map((level) => level.name) };
      const drawn = points.flatMap((point) =>
        point.filter(([factor]) => factor === name).map(([, level]) => level.name),
      );
      return { name, levels: [...new Set(drawn)].sort((a, b) => Number(a) - Number(b)) };
    }),
  };
}

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

/** The sweep of a config that has none. */
export const NO_SWEEP: ExpandedSweep = { arms: [], probes: [], design: null, faults: [] };
const returnNoArms = (faults: readonly ConfigurationFault[]): ExpandedSweep => ({ ...NO_SWEEP, faults });

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
