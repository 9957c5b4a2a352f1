import { multiplyRows } from '../../core/tensors/rows.ts';
import { buildUnchangingRows } from './dense-rows.ts';
import { FlatIndex } from './flat.ts';

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
