import { z } from 'zod';
import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { CONFIG_LIMITS } from '../composition/config-limits.ts';
import { countLevels, drawLevel, type Factor, type Level } from './sweep-factors.ts';

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
export type SweepDesign = z.output<typeof sweepDesign>;

/** A future arm: a level of some or all of the factors. */
export type Point = readonly (readonly [factor: string, level: Level])[];

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
export function findSweepSizeFaults(sweep: SweepOptions, factors: readonly Factor[]): ConfigurationFault[] {
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
export function buildSweepDesign(
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
