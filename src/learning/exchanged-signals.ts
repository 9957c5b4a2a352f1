import { random } from '../core/random.ts';
import { type FeatureTable, signalPositions } from './feature-table.ts';

/** Places of a row that hold a candidate. */
function candidatesOf({ mask, width }: FeatureTable, row: number): number[] {
  const places: number[] = [];
  for (let place = 0; place < width; place++) if (mask[row * width + place] === 1) places.push(place);
  return places;
}

/**
 * A null control: the candidates of each query exchange some signals at random, all of them together. The joint distribution of these signals over a query's
 * candidates does not change; the values of one candidate become those of another. A query's draw depends on its id alone, so that a
 * row is the same in every fold.
 *
 * @throws ValidationError for a signal that the table lacks.
 */
export function exchangeSignals(table: FeatureTable, signals: readonly string[], seed: number): FeatureTable {
  const columns = signalPositions(table, signals);
  const values = table.values.slice();
  const stride = table.signals.length;
  for (let row = 0; row < table.queryIds.length; row++) {
    const places = candidatesOf(table, row);
    const givers = random(seed, `exchanged-signals ${table.queryIds[row]}`).shuffle([...places]);
    for (const [i, place] of places.entries()) {
      const to = (row * table.width + place) * stride;
      const from = (row * table.width + givers[i]!) * stride;
      for (const column of columns) values[to + column] = table.values[from + column]!;
    }
  }
  return { ...table, values };
}
