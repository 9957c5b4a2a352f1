import { ValidationError } from '../../core/errors/errors.ts';
import type { Clusters } from '../intervals/mean-intervals.ts';
import { computePairedDifferences } from './paired-differences.ts';
import { type ClusteredTest, type ComparisonOptions, computeClusteredTests } from './significance.ts';
import { chooseVerdict } from './verdict.ts';

/** The label of the n-th item, from 0: a to z, then aa, ab. */
export function nameLetter(index: number): string {
  const last = String.fromCharCode(97 + (index % 26));
  return index < 26 ? last : nameLetter(Math.floor(index / 26) - 1) + last;
}

/** True if every item of one group is in the other. */
function isWithin(group: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  if (group.size > other.size) return false;
  for (const item of group) if (!other.has(item)) return false;
  return true;
}

/**
 * Splits the groups that hold both items of a pair. Only a new group can be within another one: the old groups are not
 * within each other, and a group that is split holds no other one. O(new groups x groups x items).
 */
function splitGroups(groups: readonly ReadonlySet<number>[], a: number, b: number): ReadonlySet<number>[] {
  const kept: ReadonlySet<number>[] = [];
  const split: ReadonlySet<number>[] = [];
  for (const group of groups) {
    if (!(group.has(a) && group.has(b))) kept.push(group);
    else for (const left of [a, b]) split.push(new Set([...group].filter((item) => item !== left)));
  }
  const added = split.filter(
    (group, g) =>
      !kept.some((other) => isWithin(group, other)) &&
      !split.some((other, o) => o !== g && isWithin(group, other) && (group.size < other.size || o < g)),
  );
  return [...kept, ...added];
}

/**
 * Compact letter display: groups of items such that two items share a group exactly if they do not differ. Insert and
 * absorb: one group of all items is split at each pair that differs, and groups within others are dropped. Source:
 * piepho2004letters.
 *
 * @param order the items, best first; groups are in the order of their best members.
 * @param pairs that differ.
 * @returns the items of each group, in the given order.
 */
export function groupByLetters(order: readonly number[], pairs: readonly (readonly [number, number])[]): number[][] {
  let groups: ReadonlySet<number>[] = [new Set(order)];
  for (const [a, b] of pairs) groups = splitGroups(groups, a, b);
  const rank = new Map(order.map((item, i) => [item, i]));
  const ranks = groups.map((group) => [...group].map((item) => rank.get(item) as number).sort((a, b) => a - b));
  return ranks.sort((a, b) => compareLists(a, b)).map((group) => group.map((i) => order[i] as number));
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at === -1 ? a.length - b.length : (a[at] as number) - (b[at] ?? Number.NEGATIVE_INFINITY);
}

/** Two systems in one metric. */
export interface PairComparison extends ClusteredTest {
  /** Indexes of the systems; `first` is the smaller one. */
  readonly first: number;
  readonly second: number;
  /** The mean of the first minus that of the second. */
  readonly difference: number;
  /** The index of the better system; null if undecided. */
  readonly better: number | null;
}

/** Every pair of S systems in one metric. */
export interface AllPairs {
  /** [S] */
  readonly means: readonly number[];
  /** [S (S - 1) / 2] by the first system, then the second. */
  readonly pairs: readonly PairComparison[];
  /** [S] the systems that each one is better than, ascending. */
  readonly beaten: readonly (readonly number[])[];
  /**
   * The compact letter display: systems share a group exactly if their difference is undecided. The group of the best
   * system is first.
   */
  readonly groups: readonly (readonly number[])[];
}

function computeMean(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Tests every pair of systems in one metric, corrected over all pairs: by Holm, unless the options name another
 * correction. O(S² Q samples).
 *
 * @param systems values of one metric, [Q] each; at least 2.
 * @throws ValidationError for fewer systems; as the tests.
 */
export function compareAllPairs(
  systems: readonly ArrayLike<number>[],
  clusters: Clusters,
  options: ComparisonOptions,
): AllPairs {
  if (systems.length < 2)
    throw new ValidationError(`all pairs of ${systems.length} systems are none; pass at least 2`, {
      systems: systems.length,
    });
  const { level = 0.95, better: direction = 'higher' } = options;
  const means = systems.map(computeMean);
  const indexes = systems.flatMap((_, first) =>
    systems.slice(first + 1).map((__, i) => [first, first + 1 + i] as const),
  );
  const columns = indexes.map(([a, b]) =>
    computePairedDifferences(systems[a] as ArrayLike<number>, systems[b] as ArrayLike<number>),
  );
  const tests = computeClusteredTests(columns, clusters, options);
  const pairs = indexes.map(([first, second], i): PairComparison => {
    const test = tests[i] as ClusteredTest;
    const difference = computeMean(columns[i] as Float64Array);
    const better = { better: first, worse: second, undecided: null }[chooseVerdict(difference, test, level, direction)];
    return { first, second, difference, better, ...test };
  });
  const decided = pairs.filter(({ better }) => better !== null);
  const sign = direction === 'higher' ? 1 : -1;
  const order = [...systems.keys()].sort((a, b) => sign * ((means[b] as number) - (means[a] as number)) || a - b);
  return {
    means,
    pairs,
    beaten: systems.map((_, s) =>
      decided.filter(({ better }) => better === s).map(({ first, second }) => (first === s ? second : first)),
    ),
    groups: groupByLetters(
      order,
      decided.map(({ first, second }) => [first, second] as const),
    ),
  };
}
