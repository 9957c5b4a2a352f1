import { DimensionMismatchError, NotFiniteError, ValidationError } from '../core/errors.ts';
import { compareBytes, compareScored, type Scored } from '../model/tie-rule.ts';

/**
 * The scores that S sources gave to the same C candidates of one query: [C] each, NaN where a source did not return the candidate. **Candidates stand in
 * the order of the tie rule, id descending**, so that of two equal scores the earlier place ranks first; {@link alignLists} puts them so.
 */
export type ScoreColumns = readonly Float64Array[];

/** @throws ValidationError without a source, DimensionMismatchError for columns of different lengths, NotFiniteError for an infinite score. */
export function assertColumns(columns: ScoreColumns): void {
  const candidates = columns[0]?.length;
  if (candidates === undefined) throw new ValidationError(`fusion needs at least one source: ${columns.length}`);
  for (const [source, column] of columns.entries()) {
    if (column.length !== candidates)
      throw new DimensionMismatchError(`scores of source ${source}`, candidates, column.length);
    const infinite = column.findIndex((score) => Math.abs(score) === Number.POSITIVE_INFINITY);
    if (infinite !== -1)
      throw new NotFiniteError('score', `source ${source}, candidate ${infinite}`, column[infinite] as number);
  }
}

/** @throws ValidationError unless there is one finite weight, not negative, a source. */
export function assertWeights(weights: readonly number[], sources: number): void {
  if (weights.length !== sources)
    throw new ValidationError(
      `fusion of ${sources} sources needs as many weights, got ${weights.length}: ${weights.join(', ')}`,
      {
        sources,
        weights,
      },
    );
  const wrong = weights.find((weight) => !(weight >= 0 && Number.isFinite(weight)));
  if (wrong !== undefined)
    throw new ValidationError(`weight of a source must be finite and not negative: ${wrong}`, { weights });
}

/** Adds `contribute(score)` of every present score to the candidate's sum. */
export function addPresent(sums: Float64Array, column: Float64Array, contribute: (score: number) => number): void {
  for (let c = 0; c < column.length; c++) {
    const score = column[c] as number;
    if (!Number.isNaN(score)) sums[c] = (sums[c] as number) + contribute(score);
  }
}

/** The least and the largest present score; infinite with the wrong sign where there is none. */
export function rangeOf(column: Float64Array): { readonly low: number; readonly high: number } {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const score of column) {
    if (score < low) low = score;
    if (score > high) high = score;
  }
  return { low, high };
}

export interface AlignedLists {
  /** [C] every id of any list, descending by bytes. */
  readonly ids: readonly string[];
  /** [C] each. */
  readonly columns: Float64Array[];
}

/**
 * Lays the lists of S sources over their common candidates.
 *
 * @throws NotFiniteError for a score that is not finite and ValidationError for an id that a list repeats; both name the source and the id.
 */
export function alignLists(lists: readonly (readonly Scored[])[]): AlignedLists {
  const ids = [...new Set(lists.flatMap((list) => list.map(({ id }) => id)))].sort((a, b) => compareBytes(b, a));
  const places = new Map(ids.map((id, place) => [id, place]));
  const columns = lists.map((list, source) => {
    const column = new Float64Array(ids.length).fill(Number.NaN);
    for (const { id, score } of list) {
      const place = places.get(id) as number;
      if (!Number.isFinite(score)) throw new NotFiniteError('score', `source ${source}, candidate ${id}`, score);
      if (!Number.isNaN(column[place]))
        throw new ValidationError(`source ${source} repeats a candidate: ${id}`, { source, id });
      column[place] = score;
    }
    return column;
  });
  return { ids, columns };
}

/** Candidates and their fused scores, best first by the tie rule. */
export function rankFused(ids: readonly string[], fused: Float64Array): Scored[] {
  return ids.map((id, place) => ({ id, score: fused[place] as number })).sort(compareScored);
}
