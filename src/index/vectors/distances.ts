import { multiplyRows } from '../../core/tensors/rows.ts';
import type { Distance } from '../../model/vector-index.ts';
import { buildUnchangingRows, FlatIndex } from './flat.ts';

/** Earlier turns that a turn may have edges to: the edges stay linear in the turns. */
const SIMILAR_TURNS = 10;

/**
 * The earlier turns nearest to each turn by cosine: at most 10, and none below a limit. Exact, by products of blocks.
 *
 * @param vectors row-major [N, D], unit rows.
 * @returns [N] cosine by id.
 */
export async function findSimilarTurns(
  ids: readonly string[],
  vectors: Float32Array,
  dimension: number,
  above: number,
): Promise<Map<string, number>[]> {
  const flat = new FlatIndex(ids, buildUnchangingRows(vectors, dimension));
  try {
    const texts = ids.map(() => '');
    const cutoffs = Int32Array.from(ids.keys());
    const { positions } = await flat.search({ texts, vectors, cutoffs }, SIMILAR_TURNS);
    return ids.map((_, turn) => {
      const found = positions.subarray(turn * SIMILAR_TURNS, (turn + 1) * SIMILAR_TURNS);
      // A product of its own: that of a block may round otherwise when the corpus grows.
      const scored = Array.from(
        found.filter((other) => other >= 0),
        (other) => ({
          id: ids[other] as string,
          cosine: multiplyRows(vectors, turn, vectors, other, dimension),
        }),
      );
      return new Map(
        scored.filter(({ cosine }) => cosine > 0 && cosine >= above).map(({ id, cosine }) => [id, cosine]),
      );
    });
  } finally {
    flat.dispose();
  }
}

/** The score of a distance, rounded to float32, which is what is ranked. */
export function scoreDistance(metric: Distance, distance: number): number {
  if (metric === 'cosine') return Math.fround(1 - distance);
  return Math.fround(metric === 'l2' ? 1 / (1 + distance) : -distance);
}

/** 1 - cosine, kept within 0 … 2: the product of two rounded unit vectors may be a little more than 1. */
export function clampCosineDistance(distance: number): number {
  return Math.min(2, Math.max(0, distance));
}

/**
 * The distance of a query from a row, summed in float64. With cosine both are of length 1.
 *
 * @param rows row-major [N, D]
 * @param query [D]
 */
export function measureDistance(metric: Distance, rows: Float32Array, row: number, query: Float32Array): number {
  if (metric === 'l2') {
    const start = row * query.length;
    return Math.sqrt(query.reduce((squares, value, i) => squares + (rows[start + i]! - value) ** 2, 0));
  }
  const product = multiplyRows(rows, row, query, 0, query.length);
  return metric === 'cosine' ? clampCosineDistance(1 - product) : -product;
}
