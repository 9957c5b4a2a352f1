import { type Estimate, groupIntoClusters, meanIntervals } from '../../eval/intervals/mean-intervals.ts';
import {
  type ClusteredTest,
  type ComparisonOptions,
  computeClusteredTests,
} from '../../eval/significance/significance.ts';
import type { ArmResult, Interaction, SweepSummary } from './result.ts';

type Factor = SweepSummary['factors'][number];
/** An arm of a factorial sweep. */
export type FactorialArm = Pick<ArmResult, 'levels' | 'perQuery'>;

/** A level of each of two factors, except the first. */
interface Pair {
  readonly factors: readonly [Factor, Factor];
  readonly levels: readonly [string, string];
}

function listFactorPairs(factors: readonly Factor[]): Pair[] {
  return factors.flatMap((first, i) =>
    factors
      .slice(i + 1)
      .flatMap((second) =>
        first.levels
          .slice(1)
          .flatMap((a) => second.levels.slice(1).map((b): Pair => ({ factors: [first, second], levels: [a, b] }))),
      ),
  );
}

/** The four arms that differ in the pair's factors alone, for each setting of the other factors; settings of which an arm is missing are left out. */
function listQuadruples({ factors: [first, second], levels: [a, b] }: Pair, arms: readonly FactorialArm[]) {
  const formatLevelsKey = (levels: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(levels).sort());
  const byKey = new Map(arms.map((arm) => [formatLevelsKey(arm.levels ?? {}), arm]));
  return arms.flatMap((arm) => {
    if (arm.levels?.[first.name] !== a || arm.levels[second.name] !== b) return [];
    const [a0, b0] = [first.levels[0] as string, second.levels[0] as string];
    const alone = byKey.get(formatLevelsKey({ ...arm.levels, [second.name]: b0 }));
    const other = byKey.get(formatLevelsKey({ ...arm.levels, [first.name]: a0 }));
    const neither = byKey.get(formatLevelsKey({ ...arm.levels, [first.name]: a0, [second.name]: b0 }));
    return alone && other && neither ? [{ both: arm, alone, other, neither }] : [];
  });
}

/** [Q] both - one alone - the other alone + neither, averaged over the settings of the other factors. */
function computeContrast(quads: ReturnType<typeof listQuadruples>, metric: string): Float64Array {
  const getArmValues = ({ perQuery }: FactorialArm) => perQuery[metric] as readonly number[];
  const [{ both }] = quads as [(typeof quads)[number]];
  const sums = new Float64Array(getArmValues(both).length);
  for (const quad of quads) {
    const [both, alone, other, neither] = [
      getArmValues(quad.both),
      getArmValues(quad.alone),
      getArmValues(quad.other),
      getArmValues(quad.neither),
    ];
    for (let q = 0; q < sums.length; q++)
      sums[q] =
        (sums[q] as number) +
        ((both[q] as number) - (alone[q] as number) - (other[q] as number) + (neither[q] as number)) / quads.length;
  }
  return sums;
}

/**
 * The difference between two levels together and the sum of each alone: Y(a, b) - Y(a, b0) - Y(a0, b) + Y(a0, b0), a0 and b0 being the first levels of
 * their factors, for each query, averaged over the settings of the other factors. Clustered intervals and tests as those of the table; corrected over all
 * interactions of a metric.
 *
 * @param arms of the sweep, those that failed missing; an interaction for which no setting has all four arms is left out.
 * @param labels [Q] the cluster of each query.
 * @returns metric by metric.
 */
export function measureInteractions(
  factors: readonly Factor[],
  arms: readonly FactorialArm[],
  metrics: readonly string[],
  labels: readonly string[],
  options: ComparisonOptions,
): Interaction[] {
  const clusters = groupIntoClusters(labels);
  const found = listFactorPairs(factors)
    .map((pair) => ({ ...pair, quads: listQuadruples(pair, arms) }))
    .filter(({ quads }) => quads.length > 0);
  if (found.length === 0) return [];
  return metrics.flatMap((metric) => {
    const columns = found.map(({ quads }) => computeContrast(quads, metric));
    const intervals = meanIntervals(columns, clusters, options);
    const tests = computeClusteredTests(columns, clusters, options);
    return found.map(({ factors: [first, second], levels }, i) => ({
      factors: [first.name, second.name] as const,
      metric,
      levels,
      effect: intervals[i] as Estimate,
      ...(tests[i] as ClusteredTest),
    }));
  });
}
