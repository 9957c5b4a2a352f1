import { type BlockMass, computeAttentionBlock } from './attention-block.ts';
import {
  type AttentionRows,
  type CheckedRows,
  checkRows,
  copyUnitRows,
  listRowNumbers,
  type RingSpan,
  splitIntoBlocks,
  viewRowsAt,
} from './attention-rows.ts';
import { allocateTerms, hideKeys, MASKED, type RingAttentionOptions, writeTerms } from './options.ts';

/** Queries and keys of a block: few keys, since a device adds them up in float32, and what a block adds is kept in float64. */
const QUERIES = 1024;
const KEYS = 128;

/** Softmax over keys that come block by block, in float64. */
class RunningSoftmax {
  readonly #largest: Float64Array;
  readonly #mass: Float64Array;
  readonly #weighted: Float64Array;
  readonly #width: number;

  constructor(rows: number, width: number) {
    this.#largest = new Float64Array(rows).fill(MASKED);
    this.#mass = new Float64Array(rows);
    this.#weighted = new Float64Array(rows * width);
    this.#width = width;
  }

  add(block: BlockMass): void {
    const width = this.#width;
    for (let row = 0; row < this.#mass.length; row++) {
      const start = row * (width + 2);
      const [mass, largest] = [block[start + width] as number, block[start + width + 1] as number];
      const old = this.#largest[row] as number;
      const now = Math.max(old, largest);
      const [keep, gain] = [Math.exp(old - now), Math.exp(largest - now)];
      this.#largest[row] = now;
      this.#mass[row] = keep * (this.#mass[row] as number) + gain * mass;
      for (let d = 0, at = row * width; d < width; d++, at++)
        this.#weighted[at] = keep * (this.#weighted[at] as number) + gain * (block[start + d] as number);
    }
  }

  /**
   * Writes the outputs; a row without an admissible key is not changed.
   *
   * @param rows where in the output each row belongs
   */
  write(output: Float32Array, rows: Int32Array): void {
    const width = this.#width;
    for (let row = 0; row < this.#mass.length; row++) {
      if ((this.#largest[row] as number) <= MASKED / 2) continue;
      const to = (rows[row] as number) * width;
      for (let d = 0, from = row * width; d < width; d++, from++)
        output[to + d] = (this.#weighted[from] as number) / (this.#mass[row] as number);
    }
  }
}

async function attendBlock(
  rows: CheckedRows,
  queries: RingSpan,
  keys: RingSpan,
  options: RingAttentionOptions,
): Promise<BlockMass> {
  const [first, end] = [queries.first, queries.first + queries.count];
  const chosen = rows.order.subarray(first, end);
  const terms = allocateTerms(queries.count, keys.count);
  const ring = { turns: rows.turns, options, width: Number.POSITIVE_INFINITY };
  writeTerms(terms, { row: 0, column: 0 }, rows.ringPositions.subarray(first, end), keys, ring);
  hideKeys(terms, rows, chosen, keys, MASKED);
  const block = {
    queries: copyUnitRows(rows.queries, rows.queryScales, chosen),
    keys: copyUnitRows(rows.keys, rows.keyScales, listRowNumbers(keys, rows.turns)),
    values: viewRowsAt(rows.values, rows.turns, keys),
    terms,
  };
  return computeAttentionBlock(block, 0);
}

/** True if the direction lets no query of the block see any key of the other. */
function isHidden(
  ringPositions: Int32Array,
  queries: RingSpan,
  keys: RingSpan,
  { direction }: RingAttentionOptions,
): boolean {
  const [earliest, latest] = [
    ringPositions[queries.first] as number,
    ringPositions[queries.first + queries.count - 1] as number,
  ];
  if (direction === 'causal') return keys.first > latest;
  return direction === 'anticausal' && keys.first + keys.count <= earliest;
}

/** {@link blockwiseRingAttention} of rows that have been checked. */
export async function attendDense(rows: CheckedRows, options: RingAttentionOptions): Promise<Float32Array> {
  const { turns, valueWidth, ringPositions } = rows;
  const output = new Float32Array(ringPositions.length * valueWidth);
  for (const queries of splitIntoBlocks(ringPositions.length, QUERIES)) {
    const softmax = new RunningSoftmax(queries.count, valueWidth);
    for (const keys of splitIntoBlocks(turns, KEYS)) {
      if (isHidden(ringPositions, queries, keys, options)) continue;
      softmax.add(await attendBlock(rows, queries, keys, options));
    }
    softmax.write(output, rows.order.subarray(queries.first));
  }
  return output;
}

/**
 * Dense ring attention of queries over a conversation, in blocks with a running softmax: O(B T D) time like every dense form, O((B + T) D) memory.
 *
 * @returns row-major [B, V]; a row without an admissible key is zero
 * @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to.
 */
export async function blockwiseRingAttention(
  inputs: AttentionRows,
  options: RingAttentionOptions,
): Promise<Float32Array> {
  return attendDense(checkRows(inputs), options);
}
