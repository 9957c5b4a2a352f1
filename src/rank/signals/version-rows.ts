import { ValidationError } from '../../core/errors/errors.ts';
import type { PropagatedVersions } from '../../ops/attention/versioned-propagation.ts';
import type { PoolRows } from './candidate-pool.ts';

/**
 * The row of the version that each place of a pool has at its query's moment.
 *
 * @param versions in order of validFrom.
 * @param cutoffs [Q]
 * @returns row-major [Q, C]; -1 for padding.
 * @throws ValidationError for a turn that has no version valid at the cutoff.
 */
export function findVersionRows(versions: PropagatedVersions, pool: PoolRows, cutoffs: Int32Array): Int32Array {
  const rowsOf = new Map<number, number[]>();
  for (const [row, position] of versions.positions.entries()) {
    const rows = rowsOf.get(position);
    if (rows === undefined) rowsOf.set(position, [row]);
    else rows.push(row);
  }
  return pool.positions.map((position, pair) => {
    if (position < 0) return -1;
    const cutoff = cutoffs[Math.floor(pair / pool.width)] as number;
    const row = rowsOf
      .get(position)
      ?.find(
        (candidate) =>
          (versions.validFrom[candidate] as number) <= cutoff && cutoff < (versions.validTo[candidate] as number),
      );
    if (row === undefined)
      throw new ValidationError(
        `turn at position ${position} has no propagated version at cutoff: ${cutoff}; pass the versions and the pool of one corpus`,
        { position, cutoff },
      );
    return row;
  });
}
