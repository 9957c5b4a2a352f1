import { gatherRows, multiplyRows, viewRow } from '../../core/tensors/rows.ts';
import type { Distance } from '../../model/vector-index.ts';
import { isZero } from '../candidates/query-batch.ts';
import { buildUnchangingRows, FlatIndex } from './flat.ts';

/** Earlier turns that a turn may have edges to: the edges stay linear in the turns. */
const SIMILAR_TURNS = 10;
/** For at most 4 later turns, products on the host take less time than to bring all rows to the device. */
const FEW_TURNS = 4;
/** More than two products of unit rows in float32 are off, up to 16,384 numbers a row. */
const ROUNDING = 2 ** -9;

/**
 * The earlier turns nearest to each turn by cosine: at most 10, and none below a limit. Exact, by products of blocks.
 * Later turns change nothing in the result of a turn: to the bit on wasm and cpu, whose products do not depend on the
 * size of a block; elsewhere unless the tenth turn and the next are equally near up to rounding.
 *
 * @param vectors row-major [N, D], unit rows.
 * @param first the first turn that is asked for; the rows before it are known to be right.
 * @returns [N - first] cosine by id.
 */
export async function findSimilarTurns(
  ids: readonly string[],
  vectors: Float32Array,
  dimension: number,
  above: number,
  first = 0,
): Promise<Map<string, number>[]> {
  if (first === 0 || ids.length - first > FEW_TURNS) return compareBlocks(ids, vectors, dimension, above, first);
  const found: Map<string, number>[] = [];
  for (let turn = first; turn < ids.length; turn++) {
    const rows = [...listNearRows(vectors, dimension, turn, above), turn];
    const near = rows.map((row) => ids[row] as string);
    found.push(...(await compareBlocks(near, gatherRows(vectors, dimension, rows), dimension, above, rows.length - 1)));
  }
  return found;
}

/** Finds similar turns by products of all rows, see {@link findSimilarTurns}. */
async function compareBlocks(
  ids: readonly string[],
  vectors: Float32Array,
  dimension: number,
  above: number,
  first: number,
): Promise<Map<string, number>[]> {
  const flat = new FlatIndex(ids, buildUnchangingRows(vectors, dimension));
  try {
    const turns = Int32Array.from({ length: ids.length - first }, (_, i) => first + i);
    const texts = Array.from(turns, () => '');
    const asked = { texts, vectors: vectors.subarray(first * dimension), cutoffs: turns };
    const { positions } = await flat.search(asked, SIMILAR_TURNS);
    return Array.from(turns, (turn, i) => {
      const found = positions.subarray(i * SIMILAR_TURNS, (i + 1) * SIMILAR_TURNS);
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

/**
 * The rows before a row that may be among its nearest by products in float32, ascending: more than those that are, by
 * what such a product may be off. None for a zero row.
 */
function listNearRows(vectors: Float32Array, dimension: number, row: number, above: number): number[] {
  if (isZero(viewRow(vectors, dimension, row))) return [];
  const cosines = new Float64Array(row);
  const best = new Float64Array(SIMILAR_TURNS).fill(Math.max(0, above));
  for (let other = 0; other < row; other++) {
    const cosine = multiplyRows(vectors, row, vectors, other, dimension);
    cosines[other] = cosine;
    if (cosine <= best[0]!) continue;
    best[0] = cosine;
    best.sort();
  }
  const near: number[] = [];
  for (let other = 0; other < row; other++) if (cosines[other]! >= best[0]! - ROUNDING) near.push(other);
  return near;
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
