import { type AttentionBlock, attentionBlock, type BlockMass, blockRows } from './attention-block.ts';
import {
  type AttentionRows,
  blocksOf,
  type CheckedRows,
  checkRows,
  type Places,
  type RowAttention,
  rowsAt,
  unitRows,
} from './attention-rows.ts';
import { bandError, leastBandWidth } from './band.ts';
import { blockwiseRingAttention } from './blockwise-ring-attention.ts';
import { admissibleCount, FarField } from './far-field.ts';
import { emptyTerms, type LogitTerms, writeTerms } from './logit-terms.ts';
import { MASKED } from './masked-softmax.ts';
import type { RingAttentionOptions } from './options.ts';

/** Error of a row that is asked for when nothing else is: about what float32 rounds. */
export const DEFAULT_TOLERANCE = 1e-6;

/** Blocks of queries, from the end when anticausal: the order in which {@link FarField} moves. */
function queryBlocks(turns: number, size: number, { direction }: RingAttentionOptions): Places[] {
  const blocks = blocksOf(turns, size);
  return direction === 'anticausal' ? blocks.reverse() : blocks;
}

/** The terms of a block and its band; all blocks of full size whose band does not reach beyond the turns have the same. */
class BandTerms {
  readonly #turns: number;
  readonly #width: number;
  readonly #options: RingAttentionOptions;
  #inner: LogitTerms | undefined;

  constructor(turns: number, width: number, options: RingAttentionOptions) {
    this.#turns = turns;
    this.#width = width;
    this.#options = options;
  }

  of(queries: Places, keys: Places, isFull: boolean): LogitTerms {
    const isInner = isFull && keys.first >= 0 && keys.first + keys.count <= this.#turns;
    if (isInner && this.#inner !== undefined) return this.#inner;
    const terms = emptyTerms(queries.count, keys.count, this.#options.combine === 'multiplicative' ? 0 : MASKED);
    const ring = { turns: this.#turns, options: this.#options, width: this.#width };
    writeTerms(terms, { row: 0, column: 0 }, queries, keys, ring);
    if (isInner) this.#inner = terms;
    return terms;
  }
}

/** The queries of a block in the same order. */
function* queriesOf({ first, count }: Places, { direction }: RingAttentionOptions): Generator<number> {
  for (let step = 0; step < count; step++) yield direction === 'anticausal' ? first + count - 1 - step : first + step;
}

/** Adds the far field to what a block's band has above it, and divides. */
function writeRows(
  output: Float32Array,
  queries: Places,
  band: BlockMass,
  farField: FarField,
  { turns, valueWidth }: CheckedRows,
  options: RingAttentionOptions,
): void {
  for (const i of queriesOf(queries, options)) {
    farField.moveTo(i);
    const count = admissibleCount(i, turns, options);
    if (count === 0) continue;
    const start = (i - queries.first) * (valueWidth + 2);
    const [mass, largest] = [band[start + valueWidth] as number, band[start + valueWidth + 1] as number];
    const far = options.combine === 'multiplicative' ? Math.exp(-largest) : 0;
    const scale = 1 / (far * count + mass);
    for (let d = 0, to = i * valueWidth; d < valueWidth; d++, to++)
      output[to] = (far * (farField.sum[d] as number) + (band[start + d] as number)) * scale;
  }
}

/** The block's queries and the keys of their band, which holds the queries in its middle. */
function unitBlock(rows: CheckedRows, queries: Places, keys: Places): Pick<AttentionBlock, 'queries' | 'keys'> {
  const units = unitRows(rows.keys, rows.keyScales, keys);
  if (rows.queries !== rows.keys) return { queries: unitRows(rows.queries, rows.queryScales, queries), keys: units };
  const start = (queries.first - keys.first) * rows.dimension;
  return { queries: units.subarray(start, start + queries.count * rows.dimension), keys: units };
}

async function attendBanded(rows: CheckedRows, width: number, options: RingAttentionOptions): Promise<Float32Array> {
  const { turns, valueWidth } = rows;
  const output = new Float32Array(turns * valueWidth);
  const farField = new FarField(rows, options);
  const size = blockRows(rows.dimension);
  const terms = new BandTerms(turns, width, options);
  for (const queries of queryBlocks(turns, size, options)) {
    const keys = { first: queries.first - width, count: queries.count + 2 * width };
    const block = {
      ...unitBlock(rows, queries, keys),
      values: rowsAt(rows.values, turns, keys),
      terms: terms.of(queries, keys, queries.count === size),
    };
    const band = await attentionBlock(block, options.combine === 'multiplicative' ? 1 : 0);
    writeRows(output, queries, band, farField, rows, options);
  }
  return output;
}

/**
 * Ring attention of a conversation with itself as a band plus a constant: keys more than W steps away weigh e^0 = 1 (multiplicative) or nothing (additive) to
 * within the tolerance, so with m the row's largest logit
 *
 *     numerator_i   = e^-m c Σ_j v_j + Σ_{d(i,j) <= W} (e^(logit_ij - m) - c e^-m) v_j,   c = 1 or 0
 *     denominator_i = e^-m c n_i     + Σ_{d(i,j) <= W} (e^(logit_ij - m) - c e^-m)
 *
 * over the n_i admissible keys: one sum for all rows without a direction, prefix or suffix sums with one. O(T W D) time in blocks of plain matrix products,
 * memory for the output and one block. The proof of the bound is in band.ts; section 4.2.3 of diomande2026ragpp has the dense form.
 *
 * When 2 W + 1 >= T there is no far field; the dense form is computed then, and the result says so.
 *
 * @param settings.tolerance largest Euclidean error of an output row for values of length 1, from which W follows; 0 asks for the dense form
 * @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to, ValidationError for a negative tolerance.
 */
export async function bandedRingAttention(
  inputs: AttentionRows,
  options: RingAttentionOptions,
  settings: { readonly tolerance?: number } = {},
): Promise<RowAttention> {
  const { tolerance = DEFAULT_TOLERANCE } = settings;
  const rows = checkRows(inputs);
  const width = leastBandWidth(rows.turns, tolerance, options);
  const span = 2 * width + 1;
  if (span >= rows.turns) {
    const reason = `a band of ${span} turns covers all of ${rows.turns}`;
    const output = await blockwiseRingAttention(inputs, options);
    return { output, method: 'dense', reason, bandWidth: width, errorBound: 0 };
  }
  const output = await attendBanded(rows, width, options);
  const reason = `a band of ${span} among ${rows.turns} turns`;
  return { output, method: 'banded', reason, bandWidth: width, errorBound: bandError(rows.turns, width, options) };
}
