import { ValidationError } from '../../core/errors/errors.ts';
import { wilsonInterval } from '../../core/numbers/distributions.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { type Clusters, sumByCluster } from '../intervals/mean-intervals.ts';

/** The differences of one column as a sign-flip test sees them. */
export interface FlippedColumn {
  /** [G] */
  readonly sums: Float64Array;
  /** Magnitude from which a flipped sum is as extreme as the observed one. */
  readonly threshold: number;
}

/**
 * Sign vectors that are counted at once: their bytes fit a cache, and the tables of sums cost little beside the
 * lookups.
 */
const BATCH = 4096;
/** The values of a byte, which holds the signs of eight groups. */
const BYTES = 256;

/** [G / 8, 256] for each eight groups their signed sum by the byte of their signs. A set bit is a plus. */
function fillTables(sums: Float64Array, tables: Float64Array): void {
  for (let first = 0, base = 0; first < sums.length; first += 8, base += BYTES) {
    let negative = 0;
    for (let bit = 0; bit < 8; bit++) negative -= sums[first + bit] ?? 0;
    tables[base] = negative;
    for (let bit = 0, size = 1; bit < 8; bit++, size *= 2) {
      const twice = 2 * (sums[first + bit] ?? 0);
      for (let byte = 0; byte < size; byte++) tables[base + size + byte] = (tables[base + byte] as number) + twice;
    }
  }
}

/** Sign vectors whose flipped sum is as extreme as the column's. @param signs [count, width] */
function countExtreme({ threshold }: FlippedColumn, tables: Float64Array, signs: Uint8Array, width: number): number {
  let hits = 0;
  for (let at = 0; at < signs.length; at += width) {
    let total = 0;
    for (let byte = 0, base = 0; byte < width; byte++, base += BYTES)
      total += tables[base + (signs[at + byte] as number)] as number;
    if (Math.abs(total) >= threshold) hits++;
  }
  return hits;
}

/**
 * Draws sign vectors of G groups and counts how many make a column as extreme as it is. Each call draws new ones, the
 * same for all of its columns, so that the count of a column does not depend on the other columns.
 *
 * A sample costs G / 8 additions a column. The first call draws one flip at a time, the others 32 at a time.
 *
 * @returns a function that gives the count of each column.
 */
export function signFlipCounter(
  groups: number,
  seed: number,
): (columns: readonly FlippedColumn[], samples: number) => number[] {
  const stream = createRandom(seed, 'sign-flip-permutation');
  const width = Math.ceil(groups / 8);
  const tables = new Float64Array(width * BYTES);
  let isFirst = true;

  const drawFlips = (signs: Uint8Array) => {
    signs.fill(0);
    for (let at = 0; at < signs.length; at += width)
      for (let group = 0; group < groups; group++)
        if (stream.integer(2) === 1)
          signs[at + (group >> 3)] = (signs[at + (group >> 3)] as number) | (1 << (group & 7));
  };
  const drawWords = (signs: Uint8Array) => {
    for (let at = 0; at < signs.length; at += 4) {
      const word = stream.integer(2 ** 32);
      for (let byte = 0; byte < 4; byte++) signs[at + byte] = (word >>> (8 * byte)) & 255;
    }
  };

  return (columns, samples) => {
    const hits = columns.map(() => 0);
    for (let left = samples; left > 0; left -= BATCH) {
      const signs = new Uint8Array(Math.min(left, BATCH) * width);
      if (isFirst) drawFlips(signs);
      else drawWords(signs);
      for (const [c, column] of columns.entries()) {
        fillTables(column.sums, tables);
        hits[c] = (hits[c] as number) + countExtreme(column, tables, signs, width);
      }
    }
    isFirst = false;
    return hits;
  };
}

/**
 * The sign-flip permutation test of one column of paired differences: the mean difference and its p, with the
 * uncertainty of p due to the draws.
 */
export interface PermutationTest {
  readonly meanDifference: number;
  /** Two-sided. */
  readonly p: number;
  /** True if all sign vectors were enumerated. */
  readonly exact: boolean;
  /** Sign vectors drawn; 0 where every one was tried. */
  readonly samples: number;
  /** Ends of the Monte Carlo interval of p, at 99.9 %; p itself if it is exact. */
  readonly low: number;
  readonly high: number;
}

/**
 * The draws of a sign-flip permutation test: how many sign vectors (by default 10,000), from which seed, and whether a
 * p near its bound gets more.
 */
export interface PermutationOptions {
  /** The number of sign vectors to draw if there are too many to enumerate. */
  readonly samples?: number;
  readonly seed: number;
  /**
   * The columns whose p is too uncertain, called after each round of draws. These get as many new sign vectors as were
   * drawn before, up to {@link MOST_SAMPLES} in total, except if by Hoeffding's bound these would give the smallest p.
   * Without it there is one round.
   */
  readonly wantsMore?: (tests: readonly PermutationTest[]) => readonly boolean[];
}

/** Sign vectors that are drawn at most while a p is too close to its bound. */
export const MOST_SAMPLES = 1_000_000;
/** The smallest p that {@link MOST_SAMPLES} can show. */
const LEAST_P = 1 / (MOST_SAMPLES + 1);
/** Standard normal quantile of the Monte Carlo interval, two-sided 99.9 %. */
const MONTE_CARLO_Z = 3.2905267314919255;
/** All 2^n sign vectors are tried up to this n. */
const EXACT_UP_TO = 12;
/**
 * Sums whose magnitudes differ by less than this share of the largest possible one are equal: the order of summation
 * moves the last digits.
 */
const ROUNDING = 1e-12;

interface Column extends FlippedColumn {
  readonly meanDifference: number;
  /** The sums of the groups that differ. */
  readonly differing: Float64Array;
}

/** A column and the draws for it. */
interface Draws {
  readonly column: Column;
  /** Null if there are too many sign vectors to enumerate. */
  readonly exactP: number | null;
  /** True if more samples would give the smallest p, so that none are drawn. */
  isSmallest: boolean;
  hits: number;
  samples: number;
}

function prepareFlipColumn(differences: ArrayLike<number>, clusters: Clusters): Column {
  const sums = sumByCluster(clusters, differences);
  const observed = sums.reduce((total, sum) => total + sum, 0);
  const largest = sums.reduce((total, sum) => total + Math.abs(sum), 0);
  return {
    sums,
    threshold: Math.abs(observed) - ROUNDING * largest,
    meanDifference: observed / differences.length,
    differing: sums.filter((sum) => sum !== 0),
  };
}

/** The sums of some groups under each sign vector, ascending. [2^n] */
function listSignedSums(sums: Float64Array): Float64Array {
  let totals = Float64Array.of(0);
  for (const sum of sums) {
    const step = Math.abs(sum);
    const next = new Float64Array(2 * totals.length);
    let down = 0;
    for (let up = 0; up < totals.length; up++) {
      const upper = (totals[up] as number) + step;
      for (; down < totals.length && (totals[down] as number) - step <= upper; down++)
        next[down + up] = (totals[down] as number) - step;
      next[down + up] = upper;
    }
    totals = next;
  }
  return totals;
}

/**
 * The share of all sign vectors whose flipped sum has at least this magnitude. The sums of either half of the groups
 * are listed in order, so that 2^(n / 2) steps count 2^n sums: 2 ms for 30 groups.
 *
 * @param sums of the groups whose difference is not 0, since the others change nothing.
 */
export function countExactFlips(sums: Float64Array, threshold: number): number {
  if (threshold <= 0) return 1;
  const half = sums.length >> 1;
  const [lower, upper] = [listSignedSums(sums.subarray(0, half)), listSignedSums(sums.subarray(half))];
  let hits = 0;
  let first = upper.length;
  for (const sum of lower) {
    while (first > 0 && sum + (upper[first - 1] as number) >= threshold) first--;
    hits += upper.length - first;
  }
  // As many sums are at most -threshold: all signs of a vector can be turned.
  return (2 * hits) / (lower.length * upper.length);
}

/**
 * The p of {@link signFlipPermutation} from all sign vectors of all groups that differ, of which there are to be few.
 */
export function computeExactFlipP(differences: ArrayLike<number>, clusters: Clusters): number {
  const { differing, threshold } = prepareFlipColumn(differences, clusters);
  return countExactFlips(differing, threshold);
}

function countFlipDraws(column: Column): Draws {
  const { differing, threshold } = column;
  const exactP = differing.length <= EXACT_UP_TO ? countExactFlips(differing, threshold) : null;
  return { column, exactP, isSmallest: false, hits: 0, samples: 0 };
}

/**
 * Hoeffding's bound of p: the flipped sums reach t with a chance of at most 2 exp(-t^2 / (2 sum s^2)). Source:
 * hoeffding1963.
 */
function computeHoeffdingBound({ differing, threshold }: Column): number {
  const squares = differing.reduce((sum, s) => sum + s * s, 0);
  return 2 * Math.exp(-(threshold ** 2) / (2 * squares));
}

/**
 * No sampled p is below that of a sum which only two sign vectors make as extreme: the observed one, and all of its
 * signs turned.
 */
function concludeFlipTest({ column, exactP, isSmallest, hits, samples }: Draws): PermutationTest {
  const { meanDifference, differing } = column;
  if (exactP !== null) return { meanDifference, p: exactP, exact: true, samples, low: exactP, high: exactP };
  if (isSmallest) return { meanDifference, p: LEAST_P, exact: false, samples, low: LEAST_P, high: LEAST_P };
  const least = 2 ** (1 - differing.length);
  const { low, high } = wilsonInterval(hits, samples, MONTE_CARLO_Z);
  const p = Math.max(least, (1 + hits) / (1 + samples));
  return { meanDifference, p, exact: false, samples, low: Math.max(least, low), high: Math.max(p, high) };
}

/**
 * The columns that need more samples. Those whose p is below the smallest one for sure have it from here on, without a
 * draw.
 */
function listColumnsToDraw(draws: readonly Draws[], wantsMore: NonNullable<PermutationOptions['wantsMore']>): Draws[] {
  const unsure = wantsMore(draws.map(concludeFlipTest));
  const open = draws.filter(({ exactP, isSmallest }, c) => exactP === null && !isSmallest && unsure[c] === true);
  const smallest = open.filter(({ column }) => computeHoeffdingBound(column) < LEAST_P);
  for (const one of smallest) one.isSmallest = true;
  return smallest.length === 0 ? open : listColumnsToDraw(draws, wantsMore);
}

/**
 * Sign-flip permutation tests of mean differences. Under the null hypothesis a difference is as likely as its negative;
 * the differences of one group share a sign, since its queries are not independent, so the statistic is the sum over
 * groups of +- the group's sum. Two-sided.
 *
 * A column with at most 12 groups that differ is tested exactly (p = hits / 2^n); others by 10,000 seeded draws, p = (1
 * + hits) / (1 + samples), which counts the observed signs as one of the draws and is never 0. All columns share the
 * draws, and their order does not matter.
 *
 * @param columns differences, treatment minus baseline, [Q] each.
 * @returns a test a column.
 * @throws ValidationError, DimensionMismatchError, NotFiniteError. Source: smucker2007significance,
 *   phipson2010permutation, hoeffding1963.
 */
export function signFlipPermutation(
  columns: readonly ArrayLike<number>[],
  clusters: Clusters,
  { samples = 10_000, seed, wantsMore = () => [] }: PermutationOptions,
): PermutationTest[] {
  if (!(Number.isInteger(samples) && samples > 0))
    throw new ValidationError(`samples is not a whole number from 1: ${samples}; pass one, such as 10000`, { samples });
  const draws = columns.map((differences) => countFlipDraws(prepareFlipColumn(differences, clusters)));
  const count = signFlipCounter(clusters.sizes.length, seed);
  let active = draws.filter(({ exactP }) => exactP === null);
  for (let drawn = 0; active.length > 0; ) {
    const size = drawn === 0 ? samples : Math.min(drawn, MOST_SAMPLES - drawn);
    const columnsOfRound = active.map(({ column }) => column);
    for (const [i, hits] of count(columnsOfRound, size).entries()) {
      const tally = active[i] as Draws;
      tally.hits += hits;
      tally.samples += size;
    }
    drawn += size;
    active = drawn < MOST_SAMPLES ? listColumnsToDraw(draws, wantsMore) : [];
  }
  return draws.map(concludeFlipTest);
}
