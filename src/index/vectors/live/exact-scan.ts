import { compareBytes } from '../../../model/turns/tie-rule.ts';
import type { VectorMatch } from '../../../model/vector-index.ts';
import { allocateCandidates } from '../../candidates/query-batch.ts';
import { TopSelection } from '../../candidates/top-selection.ts';
import { scoreDistance } from './distances.ts';
import type { RowTable } from './row-table.ts';

/** The best k of some slots by the tie rule; every distance is measured exactly. */
export function rankSlots(table: RowTable, slots: Iterable<number>, query: Float32Array, k: number): VectorMatch[] {
  const width = Math.min(k, table.searchable);
  const top = new TopSelection(width, (a, b) => compareBytes(table.getId(b), table.getId(a)));
  for (const slot of slots) top.offer(slot, scoreDistance(table.metric, table.measure(slot, query)));
  const best = allocateCandidates(1, width);
  top.drainTo(best, 0);
  return Array.from(best.positions)
    .filter((slot) => slot >= 0)
    .map((slot) => {
      const distance = table.measure(slot, query);
      return { id: table.getId(slot), score: scoreDistance(table.metric, distance), distance };
    });
}

/** Every slot that a query can find. */
function* walkSearchable(table: RowTable): Generator<number> {
  for (let slot = 0; slot < table.end; slot++) if (table.isSearchable(slot)) yield slot;
}

/** @param slots that may be found, each searchable; null: every one. */
export function scanExactly(table: RowTable, slots: Int32Array | null, query: Float32Array, k: number): VectorMatch[] {
  if (table.searchable === 0) return [];
  return rankSlots(table, slots ?? walkSearchable(table), query, k);
}
