import * as tf from '@tensorflow/tfjs-core';
import { matmulTransposed } from '../../core/tensors/matmul.ts';
import { computeRowWidth, viewRow } from '../../core/tensors/rows.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { type Corpus, listConversationPositions } from '../../model/turns/corpus.ts';
import { computeRowScales, copyUnitRows } from '../../ops/attention/attention-rows.ts';

/** Rows in a product of neighbours: large enough to be fast, small enough to compute little beside the band. */
const BLOCK_ROWS = 256;

/**
 * Cosines between turns of one conversation that can be W steps or nearer on its ring, whatever its size at the moment of asking. Rows follow the
 * conversations, turns of one next to each other.
 */
export interface ForwardCosines {
  /** W */
  readonly width: number;
  /** Row-major [N, W + 1] to the turn k places later, k = 0 … W; beyond the conversation the numbers have no meaning. */
  readonly next: Float32Array;
  /** Row-major [N, W] to the i-th turn of the conversation, i = 0 … W - 1; likewise. */
  readonly first: Float32Array;
  /** [N] the row of each corpus position. */
  readonly rows: Int32Array;
}

/** Cosines of each of `rows` with each of `others`, row-major; both are row-major [any, D], of length 1 or 0. */
function multiplyForCosines(rows: Float32Array, others: Float32Array, dimension: number): Promise<Float32Array> {
  const uploadRows = (numbers: Float32Array) => tf.tensor2d(numbers, [numbers.length / dimension, dimension]);
  return readBack('multiplyForCosines', () => matmulTransposed(uploadRows(rows), uploadRows(others)));
}

/** Fills the band of later rows, block by block: each block's product with itself and the W rows after it. */
async function fillNext(next: Float32Array, ordered: Float32Array, dimension: number, width: number): Promise<void> {
  const size = ordered.length / dimension;
  const viewConversationRows = (start: number, end: number) => ordered.subarray(start * dimension, end * dimension);
  for (let start = 0; start < size; start += BLOCK_ROWS) {
    const end = Math.min(start + BLOCK_ROWS, size);
    const last = Math.min(end + width, size);
    const values = await multiplyForCosines(
      viewConversationRows(start, end),
      viewConversationRows(start, last),
      dimension,
    );
    for (let row = start; row < end; row++) {
      const own = (row - start) * (last - start) + row - start;
      next.set(values.subarray(own, own + Math.min(width + 1, last - row)), row * (width + 1));
    }
  }
}

/** Fills the columns of the first W turns, conversation by conversation. */
async function fillFirst(
  first: Float32Array,
  ordered: Float32Array,
  lengths: readonly number[],
  dimension: number,
  width: number,
): Promise<void> {
  let start = 0;
  for (const length of lengths) {
    const columns = Math.min(width, length);
    const own = ordered.subarray(start * dimension, (start + length) * dimension);
    const values = await multiplyForCosines(own, own.subarray(0, columns * dimension), dimension);
    for (let i = 0; i < length; i++) first.set(viewRow(values, columns, i), (start + i) * width);
    start += length;
  }
}

/**
 * Built once a corpus by matrix products, O(N D (W + 256)).
 *
 * @param embeddings row-major [N, D]; a zero row has cosine 0
 * @param width W, at least 1
 * @throws DimensionMismatchError, NotFiniteError for embeddings that don't fit or are not finite.
 */
export async function buildForwardCosines(
  corpus: Corpus,
  embeddings: Float32Array,
  width: number,
): Promise<ForwardCosines> {
  const dimension = computeRowWidth('embeddings of the corpus', embeddings, corpus.size);
  const conversations = listConversationPositions(corpus);
  const order = Int32Array.from(conversations.flatMap((positions) => [...positions]));
  const ordered = copyUnitRows(embeddings, computeRowScales('embeddings of the corpus', embeddings, dimension), order);
  const rows = new Int32Array(corpus.size);
  for (const [row, position] of order.entries()) rows[position] = row;
  const next = new Float32Array(corpus.size * (width + 1));
  const first = new Float32Array(corpus.size * width);
  await fillNext(next, ordered, dimension, width);
  const lengths = conversations.map((positions) => positions.length);
  await fillFirst(first, ordered, lengths, dimension, width);
  return { width, next, first, rows };
}
