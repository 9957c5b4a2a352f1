import { createRandom } from '../../core/numbers/random.ts';
import { type FeatureTable, findSignalPositions } from './feature-table.ts';

/** Places of a row that hold a candidate. */
function listCandidatePlaces({ mask, width }: FeatureTable, row: number): number[] {
  const slots: number[] = [];
  for (let slot = 0; slot < width; slot++) if (mask[row * width + slot] === 1) slots.push(slot);
  return slots;
}

/**
 * A null control: the candidates of each query exchange some signals at random, all of them together. The joint distribution of these signals over a query's
 * candidates does not change; the values of one candidate become those of another. A query's draw depends on its id alone, so that a
 * row is the same in every fold.
 *
 * @throws ValidationError for a signal that the table lacks.
 */
export function exchangeSignals(table: FeatureTable, signals: readonly string[], seed: number): FeatureTable {
  const columns = findSignalPositions(table, signals);
  const values = table.values.slice();
  const stride = table.signals.length;
  for (let row = 0; row < table.queryIds.length; row++) {
    const slots = listCandidatePlaces(table, row);
    const givers = createRandom(seed, `exchanged-signals ${table.queryIds[row]}`).shuffle([...slots]);
    for (const [i, slot] of slots.entries()) {
      const to = (row * table.width + slot) * stride;
      const from = (row * table.width + givers[i]!) * stride;
      for (const column of columns) values[to + column] = table.values[from + column]!;
    }
  }
  return { ...table, values };
}
