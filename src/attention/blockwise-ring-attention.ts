import { attentionBlock, type BlockMass } from './attention-block.ts';
import {
  type AttentionRows,
  blocksOf,
  type CheckedRows,
  checkRows,
  type Places,
  rowsAt,
  unitRows,
} from './attention-rows.ts';
import { emptyTerms, writeTerms } from './logit-terms.ts';
import { MASKED } from './masked-softmax.ts';
import type { RingAttentionOptions } from './options.ts';

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

  /** Writes the outputs; a row that saw no admissible key is left as it is. */
  write(output: Float32Array): void {
    const width = this.#width;
    for (let row = 0; row < this.#mass.length; row++) {
      if ((this.#largest[row] as number) <= MASKED / 2) continue;
      for (let at = row * width, end = at + width; at < end; at++)
        output[at] = (this.#weighted[at] as number) / (this.#mass[row] as number);
    }
  }
}

async function attendBlock(
  rows: CheckedRows,
  queries: Places,
  keys: Places,
  options: RingAttentionOptions,
): Promise<BlockMass> {
  const terms = emptyTerms(queries.count, keys.count);
  const ring = { turns: rows.turns, options, width: Number.POSITIVE_INFINITY };
  writeTerms(terms, { row: 0, column: 0 }, queries, keys, ring);
  const block = {
    queries: unitRows(rows.queries, rows.queryScales, queries),
    keys: unitRows(rows.keys, rows.keyScales, keys),
    values: rowsAt(rows.values, rows.turns, keys),
    terms,
  };
  return attentionBlock(block, 0);
}

/** Whether the direction lets no query of the block see any key of the other. */
function isHidden(queries: Places, keys: Places, { direction }: RingAttentionOptions): boolean {
  if (direction === 'causal') return keys.first >= queries.first + queries.count;
  return direction === 'anticausal' && keys.first + keys.count <= queries.first;
}

/**
 * Dense ring attention of a conversation with itself, block by block with a running softmax: O(T² D) time as any dense form, O(T D) memory.
 *
 * @returns row-major [T, V]
 * @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to.
 */
export async function blockwiseRingAttention(
  inputs: AttentionRows,
  options: RingAttentionOptions,
): Promise<Float32Array> {
  const rows = checkRows(inputs);
  const { turns, valueWidth } = rows;
  const output = new Float32Array(turns * valueWidth);
  for (const queries of blocksOf(turns, QUERIES)) {
    const softmax = new RunningSoftmax(queries.count, valueWidth);
    for (const keys of blocksOf(turns, KEYS)) {
      if (isHidden(queries, keys, options)) continue;
      softmax.add(await attendBlock(rows, queries, keys, options));
    }
    softmax.write(output.subarray(queries.first * valueWidth));
  }
  return output;
}
