import { type AttentionBlock, type BlockMass, chooseBlockRows, computeAttentionBlock } from './attention-block.ts';
import { type CheckedRows, copyUnitRows, listRowNumbers, type RingSpan, viewRowsAt } from './attention-rows.ts';
import { FarField, orderLike, splitQueryBlocks } from './far-field.ts';
import { allocateTerms, hideKeys, type LogitTerms, MASKED, type RingAttentionOptions, writeTerms } from './options.ts';

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
  for (const step of orderLike([...Array(queries.count).keys()], options)) {
    const row = queries.first + step;
    farField.moveTo(ringPositions[row] as number);
    const start = step * (valueWidth + 2);
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

/**
 * The band in blocks of two products of tensors each, for a card: queries and keys of a block are uploaded, its rows
 * are read back once, and the far field is added on the host.
 *
 * @returns [Q, V]
 */
export async function computeTensorBand(
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
