import type { Candidates } from '../model/candidates.ts';
import type { Stage } from './stage.ts';

/** C places for each of Q queries, in the order in which the tie rule puts equal scores (id descending). */
export interface PoolRows {
  readonly queryCount: number;
  /** C. */
  readonly width: number;
  /** Row-major [Q, C] corpus positions; -1 pads a row's end. */
  readonly positions: Int32Array;
}

/** The turns that a retriever scores. */
export interface CandidatePool extends PoolRows {
  /** That it came from: what its columns are keyed by. */
  readonly stage: Stage;
}

/**
 * The union of what several sources found for the same Q queries.
 *
 * @param slots [N] of {@link rankIdsDescending}: where the tie rule puts each turn among equal scores.
 * @param admits leaves out a turn, for example one of another channel.
 */
export function joinCandidates(
  sources: readonly Candidates[],
  queryCount: number,
  slots: Int32Array,
  admits: (query: number, position: number) => boolean,
): PoolRows {
  const rows: Int32Array[] = [];
  for (let query = 0; query < queryCount; query++) {
    const found = new Set<number>();
    for (const { positions, width } of sources) {
      for (const position of positions.subarray(query * width, (query + 1) * width)) {
        if (position >= 0 && admits(query, position)) found.add(position);
      }
    }
    rows.push(Int32Array.from(found).sort((a, b) => (slots[a] as number) - (slots[b] as number)));
  }
  const width = Math.max(1, ...rows.map((row) => row.length));
  const positions = new Int32Array(queryCount * width).fill(-1);
  for (const [query, row] of rows.entries()) positions.set(row, query * width);
  return { queryCount, width, positions };
}
