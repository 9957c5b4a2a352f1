import { ValidationError } from '../../core/errors/errors.ts';
import { type FusionOptions, fuseColumns } from './registry.ts';
import type { ScoreColumns } from './score-columns.ts';

/** The most candidates that each list of a fusion holds, by name. */
export type ListLengths = Readonly<Record<string, number>>;

/** The best ranks of a candidate that one list alone holds. */
export interface ListReach {
  /** The name of the list. */
  readonly source: string;
  /** Its rank where the other lists hold the same candidates in the same order. */
  readonly agreeing: number;
  /** Its rank where no two of the other lists share a candidate. */
  readonly apart: number;
}

/** The other lists, as slots [first, first + length) among the candidates. */
type Layout = ReadonlyMap<string, { readonly first: number; readonly length: number }>;

/** How the scores of a list fall with the rank, from 0; the largest is 1. */
type Slope = (rank: number, length: number) => number;

/** All at the largest score, which is what the theoretical maximum of every list allows, or in equal steps towards 0. */
const SLOPES: readonly Slope[] = [() => 1, (rank, length) => 1 - rank / length];

/** Equal sums that were added in another order differ by rounding. */
const ROUNDING = 1e-12;

function buildColumns(source: string, length: number, others: Layout, slope: Slope): ScoreColumns {
  const end = Math.max(1, ...Array.from(others.values(), ({ first, length: count }) => first + count));
  const size = end + length - 1;
  const fill = (candidateAt: (rank: number) => number, count: number) => {
    const column = new Float64Array(size).fill(Number.NaN);
    for (let rank = 0; rank < count; rank++) column[candidateAt(rank)] = slope(rank, count);
    return column;
  };
  const columns = Array.from(
    others,
    ([name, { first, length: count }]) => [name, fill((rank) => first + rank, count)] as const,
  );
  // The candidate is at slot 0; what follows it in its own list is in no other.
  const own = fill((rank) => (rank === 0 ? 0 : end + rank - 1), length);
  return { ...Object.fromEntries(columns), [source]: own };
}

/** The rank of the candidate at slot 0, which wins ties. */
function rankFirst(fused: Float64Array): number {
  const own = fused[0] as number;
  return 1 + fused.filter((score) => score - own > ROUNDING * Math.max(Math.abs(score), Math.abs(own))).length;
}

function layOut(names: readonly string[], lengths: ListLengths, isApart: boolean): Layout {
  let next = 1;
  return new Map(
    names.map((name) => {
      const length = lengths[name] as number;
      const first = next;
      if (isApart) next += length;
      return [name, { first, length }];
    }),
  );
}

/** A list of scores from 0 to 1 is one of scaled scores already: the minima of a convex combination are 0. */
function readScaled(names: readonly string[], options: FusionOptions): FusionOptions {
  if (options.method !== 'convex') return options;
  if (options.weights === undefined) return { ...options, theoreticalMinimum: [0, 0] };
  return { ...options, theoreticalMinimum: Object.fromEntries(names.map((name) => [name, 0])) };
}

/**
 * The best rank that a candidate of one list alone can get in a fusion, for each list. The candidate is the first of its list and in no other list; the other
 * lists are full, and no candidate of theirs is in its list. Two cases bound the rank: the other lists agree, or they share no candidate. What scores the
 * candidates of a list have affects some methods: the worse rank is given of two cases, equal scores and scores that fall in equal steps.
 *
 * Under reciprocal ranks a candidate at rank r of the agreeing lists is ahead where the sum of their weight / (k + r) exceeds weight / (k + 1) of the own list;
 * under a convex combination, where the sum of their weights exceeds the own weight. The ranks are those that the fusion itself gives. O(S C log C) a list.
 *
 * @throws ValidationError for a length that is no whole number from 1, and as `fuseColumns` does.
 */
export function computeListReach(lengths: ListLengths, options: FusionOptions): ListReach[] {
  const names = Object.keys(lengths);
  for (const [source, length] of Object.entries(lengths))
    if (!Number.isInteger(length) || length < 1)
      throw new ValidationError(`length of list ${source} is not a whole number from 1: ${length}; pass its k`, {
        source,
        length,
      });
  const scaled = readScaled(names, options);
  return names.map((source) => {
    const others = names.filter((name) => name !== source);
    const findRank = (isApart: boolean) => {
      const layout = layOut(others, lengths, isApart);
      const ranks = SLOPES.map((slope) => {
        const columns = buildColumns(source, lengths[source] as number, layout, slope);
        // Some methods read the order of the lists.
        const ordered = Object.fromEntries(names.map((name) => [name, columns[name] as Float64Array]));
        return rankFirst(fuseColumns(ordered, scaled));
      });
      return Math.max(...ranks);
    };
    return { source, agreeing: findRank(false), apart: findRank(true) };
  });
}
