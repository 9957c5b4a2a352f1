import { type AttentionBlock, type BlockMass, chooseBlockRows, computeAttentionBlock } from './attention-block.ts';
import { displayRowAttention } from './attention-display.ts';
import {
  type AttentionRows,
  type CheckedRows,
  checkRows,
  copyUnitRows,
  listRowNumbers,
  type RingSpan,
  type RowAttention,
  viewRowsAt,
} from './attention-rows.ts';
import { buildKeySupport, computeBandError, findLeastBandWidth } from './band.ts';
import { attendDense } from './blockwise-ring-attention.ts';
import { allocateTerms, hideKeys, type LogitTerms, MASKED, type RingAttentionOptions, writeTerms } from './options.ts';

/**
 * The values that a query may see, summed as if every key weighed e^0 = 1: what banded attention adds to the band when
 * multiplicative; nothing when additive. In float64, since float32 loses digits over 10^5 rows. Directed sums only
 * grow: a suffix taken as the whole minus a prefix would keep the prefix's rounding.
 */
export class FarField {
  /** [V] of the query moved to. */
  readonly sum: Float64Array;
  /** Keys in the sum. */
  count = 0;
  readonly #rows: CheckedRows;
  readonly #options: RingAttentionOptions;
  /** The next position that a directed query sees. */
  #next: number;
  /** The query's own position if it is subtracted from a sum over all. */
  #own: number | undefined;

  constructor(rows: CheckedRows, options: RingAttentionOptions) {
    this.sum = new Float64Array(rows.valueWidth);
    this.#rows = rows;
    this.#options = options;
    this.#next = options.direction === 'anticausal' ? rows.turns - 1 : 0;
    if (options.combine === 'multiplicative' && options.direction === 'none')
      for (let ringPosition = 0; ringPosition < rows.turns; ringPosition++) this.#add(ringPosition, 1);
  }

  /** Moves to the next query: at the same position or a later one, an earlier one when anticausal. */
  moveTo(ringPosition: number): void {
    const { combine, direction, self } = this.#options;
    if (combine === 'additive') return;
    if (direction !== 'none') {
      const step = direction === 'causal' ? 1 : -1;
      const end = self === 'include' ? ringPosition + step : ringPosition;
      for (; this.#next !== end; this.#next += step) this.#add(this.#next, 1);
    } else if (self === 'exclude') {
      if (this.#own !== undefined) this.#add(this.#own, 1);
      this.#own = ringPosition;
      this.#add(ringPosition, -1);
    }
  }

  #add(ringPosition: number, sign: 1 | -1): void {
    const { values, valueWidth, keyMask } = this.#rows;
    if (keyMask?.[ringPosition] === 0) return;
    const { sum } = this;
    this.count += sign;
    for (let d = 0, at = ringPosition * valueWidth; d < valueWidth; d++, at++)
      sum[d] = (sum[d] as number) + sign * (values[at] as number);
  }
}

/** The default error of a row: about the rounding error of float32. */
export const DEFAULT_TOLERANCE = 1e-6;
/** Why {@link attend} and {@link bandedRingAttention} look at every pair then. */
export const PAIRS_MASKED = 'a mask of pairs is looked at pair by pair';

/**
 * Blocks of at most `size` queries on as many consecutive positions, from the end when anticausal: the order in which
 * {@link FarField} moves.
 */
function splitQueryBlocks(ringPositions: Int32Array, size: number, { direction }: RingAttentionOptions): RingSpan[] {
  const blocks: RingSpan[] = [];
  for (let first = 0, end = 0; first < ringPositions.length; first = end) {
    const beyond = (ringPositions[first] as number) + size;
    while (end < ringPositions.length && end - first < size && (ringPositions[end] as number) < beyond) end++;
    blocks.push({ first, count: end - first });
  }
  return direction === 'anticausal' ? blocks.reverse() : blocks;
}

/**
 * The terms of a block and its band. If every turn asks and no turn is masked, all full blocks whose band stays within
 * the turns share them.
 */
class BandTerms {
  readonly #rows: CheckedRows;
  readonly #width: number;
  readonly #options: RingAttentionOptions;
  #inner: LogitTerms | undefined;

  constructor(rows: CheckedRows, width: number, options: RingAttentionOptions) {
    this.#rows = rows;
    this.#width = width;
    this.#options = options;
  }

  computeTermsOf(queries: RingSpan, keys: RingSpan, isFull: boolean): LogitTerms {
    const { turns, ringPositions, order, queryRingPositions, keyMask } = this.#rows;
    const isInner = isFull && keys.first >= 0 && keys.first + keys.count <= turns;
    if (isInner && this.#inner !== undefined) return this.#inner;
    const [first, end] = [queries.first, queries.first + queries.count];
    const masked = this.#options.combine === 'multiplicative' ? 0 : MASKED;
    const terms = allocateTerms(queries.count, keys.count, masked);
    const ring = { turns, options: this.#options, width: this.#width };
    writeTerms(terms, { row: 0, column: 0 }, ringPositions.subarray(first, end), keys, ring);
    hideKeys(terms, this.#rows, order.subarray(first, end), keys, masked);
    if (isInner && queryRingPositions === undefined && keyMask === undefined) this.#inner = terms;
    return terms;
  }
}

/** The queries of a block in the same order. */
function* orderBlockQueries({ first, count }: RingSpan, { direction }: RingAttentionOptions): Generator<number> {
  for (let step = 0; step < count; step++) yield direction === 'anticausal' ? first + count - 1 - step : first + step;
}

/** Adds the far field to the band of a block, and divides. */
function writeRows(
  output: Float32Array,
  queries: RingSpan,
  band: BlockMass,
  farField: FarField,
  { valueWidth, order, ringPositions }: CheckedRows,
  options: RingAttentionOptions,
): void {
  const isAdditive = options.combine === 'additive';
  for (const row of orderBlockQueries(queries, options)) {
    farField.moveTo(ringPositions[row] as number);
    const start = (row - queries.first) * (valueWidth + 2);
    const [mass, largest] = [band[start + valueWidth] as number, band[start + valueWidth + 1] as number];
    if (isAdditive ? largest <= MASKED / 2 : farField.count === 0) continue;
    const far = isAdditive ? 0 : Math.exp(-largest);
    const scale = 1 / (far * farField.count + mass);
    for (let d = 0, to = (order[row] as number) * valueWidth; d < valueWidth; d++, to++)
      output[to] = (far * (farField.sum[d] as number) + (band[start + d] as number)) * scale;
  }
}

/** The block's queries and the keys of their band, which holds the queries in its middle where every turn asks. */
function buildUnitBlock(
  rows: CheckedRows,
  queries: RingSpan,
  keys: RingSpan,
): Pick<AttentionBlock, 'queries' | 'keys'> {
  const units = copyUnitRows(rows.keys, rows.keyScales, listRowNumbers(keys, rows.turns));
  if (rows.queries !== rows.keys || rows.queryRingPositions !== undefined) {
    const chosen = rows.order.subarray(queries.first, queries.first + queries.count);
    return { queries: copyUnitRows(rows.queries, rows.queryScales, chosen), keys: units };
  }
  const start = (queries.first - keys.first) * rows.dimension;
  return { queries: units.subarray(start, start + queries.count * rows.dimension), keys: units };
}

async function computeBandedOutput(
  rows: CheckedRows,
  width: number,
  options: RingAttentionOptions,
): Promise<Float32Array> {
  const { turns, valueWidth, ringPositions } = rows;
  const output = new Float32Array(ringPositions.length * valueWidth);
  const farField = new FarField(rows, options);
  const size = chooseBlockRows(rows.dimension);
  const terms = new BandTerms(rows, width, options);
  for (const queries of splitQueryBlocks(ringPositions, size, options)) {
    const first = (ringPositions[queries.first] as number) - width;
    const last = (ringPositions[queries.first + queries.count - 1] as number) + width;
    const keys = { first, count: last - first + 1 };
    const block = {
      ...buildUnitBlock(rows, queries, keys),
      values: viewRowsAt(rows.values, turns, keys),
      terms: terms.computeTermsOf(queries, keys, queries.count === size),
    };
    const band = await computeAttentionBlock(block, options.combine === 'multiplicative' ? 1 : 0);
    writeRows(output, queries, band, farField, rows, options);
  }
  return output;
}

/** The band that rows need for a tolerance, and the error that it leaves. */
interface Band {
  /** W */
  readonly width: number;
  readonly errorBound: number;
}

/** @throws ValidationError for a negative tolerance. */
export function chooseBand(rows: CheckedRows, tolerance: number, options: RingAttentionOptions): Band {
  const support = buildKeySupport(rows, options);
  const width = findLeastBandWidth(rows.turns, tolerance, options, support);
  return { width, errorBound: computeBandError(rows.turns, width, options, support) };
}

/** {@link bandedRingAttention} of rows that have been checked and have no mask of pairs, with 2 W + 1 < T. */
export async function attendBanded(
  rows: CheckedRows,
  { width, errorBound }: Band,
  options: RingAttentionOptions,
): Promise<RowAttention> {
  const output = await computeBandedOutput(rows, width, options);
  const reason = `a band of ${2 * width + 1} among ${rows.turns} turns`;
  return displayRowAttention({ output, method: 'banded', reason, bandWidth: width, errorBound });
}

/**
 * Ring attention of queries over a conversation as a band plus a constant: keys more than W steps away weigh e^0 = 1
 * (multiplicative) or nothing (additive) to within the tolerance, so with m the row's largest logit
 *
 *     numerator_i   = e^-m c Σ_j v_j + Σ_{d(i,j) <= W} (e^(logit_ij - m) - c e^-m) v_j,   c = 1 or 0
 *     denominator_i = e^-m c n_i     + Σ_{d(i,j) <= W} (e^(logit_ij - m) - c e^-m)
 *
 * over the n_i admissible keys: one sum for all rows without a direction, prefix or suffix sums with one. O(T V + B W
 * D) time in blocks of plain matrix products, memory for the output and one block. The proof of the bound is in
 * band.ts; section 4.2.3 of diomande2026ragpp has the dense form.
 *
 * When 2 W + 1 >= T there is no far field, and under a mask of pairs it would be another for each row; the dense form
 * is computed then, and the result says so.
 *
 * @param settings.tolerance largest Euclidean error of an output row for values of length 1, from which W follows; 0
 *   asks for the dense form
 * @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to, ValidationError
 *   for a negative tolerance.
 */
export async function bandedRingAttention(
  inputs: AttentionRows,
  options: RingAttentionOptions,
  settings: { readonly tolerance?: number } = {},
): Promise<RowAttention> {
  const rows = checkRows(inputs);
  const band = chooseBand(rows, settings.tolerance ?? DEFAULT_TOLERANCE, options);
  const span = 2 * band.width + 1;
  if (span < rows.turns && rows.mask === undefined) return attendBanded(rows, band, options);
  const reason = rows.mask === undefined ? `a band of ${span} turns covers all of ${rows.turns}` : PAIRS_MASKED;
  const output = await attendDense(rows, options);
  return displayRowAttention({ output, method: 'dense', reason, bandWidth: band.width, errorBound: 0 });
}
