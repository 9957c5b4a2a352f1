import { type FusionOptions, fuseColumns } from '../fusion/registry.ts';
import type { PoolRows } from './candidate-pool.ts';

/** A score for each place of a pool, row-major [Q, C]; 0 where the pool is padded. */
export type Column = Float32Array;

/** The places of a pool's row that hold a candidate. */
function occupied(pool: PoolRows, query: number): number {
  const row = pool.positions.subarray(query * pool.width, (query + 1) * pool.width);
  const padding = row.indexOf(-1);
  return padding === -1 ? pool.width : padding;
}

/** (1 + cos) / 2, the semantic weight of ring attention: never negative, so that it can be decayed and blended. */
export function semanticWeight(cosines: Column): Column {
  return cosines.map((cosine) => (1 + cosine) / 2);
}

/**
 * Fuses the signals of each query over its candidates.
 *
 * @param signals a column each, in the order that the method asks for.
 * @returns [Q, C]
 */
export function fuseSignals(pool: PoolRows, signals: readonly Column[], options: FusionOptions): Column {
  const fused = new Float32Array(pool.positions.length);
  for (let query = 0; query < pool.queryCount; query++) {
    const start = query * pool.width;
    const end = start + occupied(pool, query);
    if (end > start)
      fused.set(
        fuseColumns(
          signals.map((signal) => Float64Array.from(signal.subarray(start, end))),
          options,
        ),
        start,
      );
  }
  return fused;
}
