import { z } from 'zod';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { compareBytes, type Scored } from '../../model/turns/tie-rule.ts';

/** The fused scores [C] of the C candidates of one query, from the columns of S sources. */
export type Fuse<Options> = (columns: ScoreColumns, options: Options) => Float64Array;

/** A way of fusing scores, with its function: fusions are light, so nothing is loaded later. */
export interface FusionDefinition<S extends NamingOptions<'method'> = NamingOptions<'method'>>
  extends Definition<'method', S> {
  readonly fuse: Fuse<z.output<S>>;
  /** True if an arm gives it the scores of its whole pool; false by default: the lists of its signals. */
  readonly fusesPool?: boolean;
}

/**
 * The scores that S sources, by name, gave to the same C candidates of one query: [C] each, NaN where a source did not return the candidate. **Candidates stand
 * in the order of the tie rule, id descending**, so that of two equal scores the earlier place ranks first; {@link alignLists} puts them so.
 */
export type ScoreColumns = Readonly<Record<string, Float64Array>>;

/** The weight of each source, by name. */
export type SourceWeights = Readonly<Record<string, number>>;

/**
 * @returns C.
 * @throws ValidationError without a source, DimensionMismatchError for columns of different lengths, NotFiniteError for an infinite score.
 */
export function assertColumns(columns: ScoreColumns): number {
  const [first] = Object.values(columns);
  if (first === undefined) throw new ValidationError('fusion has no source; pass at least 1');
  for (const [source, column] of Object.entries(columns)) {
    if (column.length !== first.length)
      throw new DimensionMismatchError(`scores of source ${source}`, first.length, column.length);
    for (let c = 0; c < column.length; c++)
      if (Math.abs(column[c] as number) === Number.POSITIVE_INFINITY)
        throw new NotFiniteError('score', `source ${source}, candidate ${c}`, column[c] as number);
  }
  return first.length;
}

/** @throws ValidationError for a weight of an unknown source, naming the nearest one, and for one that is negative or not finite. */
export function assertWeights(weights: SourceWeights, columns: ScoreColumns): void {
  const sources = Object.keys(columns);
  for (const [source, weight] of Object.entries(weights)) {
    if (!Object.hasOwn(columns, source)) {
      const hint = suggestKnown(source, sources);
      throw new ValidationError(`weight of an unknown source: ${source}; use ${hint}`, { source, sources });
    }
    if (!(weight >= 0 && Number.isFinite(weight)))
      throw new ValidationError(
        `weight of source ${source} is negative or not finite: ${weight}; pass a number from 0`,
        {
          source,
          weight,
        },
      );
  }
}

/** Weights by source; 1 for a missing source. */
export const sourceWeights = z.record(z.string(), z.number().nonnegative()).default({});

/** The weight of each column, in their order; 1 for a source without one. @throws ValidationError as {@link assertWeights} does. */
export function readWeights(weights: SourceWeights, columns: ScoreColumns): number[] {
  assertWeights(weights, columns);
  return Object.keys(columns).map((source) => weights[source] ?? 1);
}

/**
 * The candidates with a score, best first; of equal scores the earlier one in the order of {@link ScoreColumns}. The
 * index of a candidate is the number of candidates above, its rank less 1. Finds the rank of each score among the
 * sorted ones, since sorting numbers costs less than sorting by a function. O(C log C).
 */
export function rankPresent(column: Float64Array): Int32Array {
  const sorted = column.slice().sort(); // NaN last
  let present = sorted.length;
  while (present > 0 && Number.isNaN(sorted[present - 1])) present--;
  const ranked = new Int32Array(present);
  const equalBefore = new Int32Array(present); // by the first rank of a score
  for (let c = 0; c < column.length; c++) {
    const score = column[c] as number;
    if (Number.isNaN(score)) continue;
    let [low, high] = [0, present];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] as number) <= score) low = middle + 1;
      else high = middle;
    }
    const first = present - low;
    ranked[first + (equalBefore[first] as number)] = c;
    equalBefore[first] = (equalBefore[first] as number) + 1;
  }
  return ranked;
}

/** [C] 1 where any source returned the candidate. */
export function markHeld(columns: ScoreColumns): Uint8Array {
  const all = Object.values(columns);
  const held = new Uint8Array(all[0]?.length ?? 0);
  for (const column of all) for (let c = 0; c < held.length; c++) if (!Number.isNaN(column[c])) held[c] = 1;
  return held;
}

/** Adds `contribute(score)` of every present score to the candidate's sum. */
export function addPresent(sums: Float64Array, column: Float64Array, contribute: (score: number) => number): void {
  for (let c = 0; c < column.length; c++) {
    const score = column[c] as number;
    if (!Number.isNaN(score)) sums[c] = (sums[c] as number) + contribute(score);
  }
}

/** The smallest and the largest present score; infinite with the wrong sign if there is none. */
export function findScoreRange(column: Float64Array): { readonly low: number; readonly high: number } {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const score of column) {
    if (score < low) low = score;
    if (score > high) high = score;
  }
  return { low, high };
}

/** The candidates of each source, by name. */
export type NamedLists = Readonly<Record<string, readonly Scored[]>>;

/** Ranked lists of one query over the union of their ids: a column of scores for each list. */
export interface AlignedLists {
  /** [C] every id of any list, descending by bytes. */
  readonly ids: readonly string[];
  /** [C] each, under the names of the lists. */
  readonly columns: ScoreColumns;
}

/**
 * Lays the lists of S sources over their common candidates.
 *
 * @throws NotFiniteError for a score that is not finite and ValidationError for an id that a list repeats; both name the source and the id.
 */
export function alignLists(lists: NamedLists): AlignedLists {
  const candidateOf = new Map<string, number>();
  for (const list of Object.values(lists)) for (const { id } of list) candidateOf.set(id, -1);
  const ids = sortDescending([...candidateOf.keys()]);
  for (const [c, id] of ids.entries()) candidateOf.set(id, c);
  const fillSourceColumn = (source: string, list: readonly Scored[]) => {
    const column = new Float64Array(ids.length).fill(Number.NaN);
    for (const { id, score } of list) {
      const c = candidateOf.get(id) as number;
      if (!Number.isFinite(score)) throw new NotFiniteError('score', `source ${source}, candidate ${id}`, score);
      if (!Number.isNaN(column[c]))
        throw new ValidationError(`source ${source} repeats a candidate: ${id}; list it once`, { source, id });
      column[c] = score;
    }
    return column;
  };
  const columns = Object.entries(lists).map(([source, list]) => [source, fillSourceColumn(source, list)] as const);
  return { ids, columns: Object.fromEntries(columns) };
}

/** Sorts ids in place, descending by bytes. The order of JavaScript is faster, and the same for most ids. */
function sortDescending(ids: string[]): string[] {
  ids.sort().reverse();
  const isSorted = ids.every((id, i) => i === 0 || compareBytes(ids[i - 1] as string, id) > 0);
  return isSorted ? ids : ids.sort((a, b) => compareBytes(b, a));
}

/**
 * Candidates and their fused scores, best first by the tie rule.
 *
 * @param ids [C] in the order of {@link AlignedLists}.
 * @throws NotFiniteError for a score that is NaN, as differences of scores near the largest number give.
 */
export function rankFused(ids: readonly string[], fused: Float64Array): Scored[] {
  const unknown = fused.findIndex(Number.isNaN);
  if (unknown !== -1) throw new NotFiniteError('fused score', `candidate ${ids[unknown]}`, Number.NaN);
  const ranking: Scored[] = [];
  for (const c of rankPresent(fused)) ranking.push({ id: ids[c] as string, score: fused[c] as number });
  return ranking;
}
