import { attachDisplay } from '../../core/display/display.ts';
import { buildTableBundle } from '../../core/display/display-table.ts';
import { phrase, stateShown } from '../../core/display/showable-text.ts';

/** The part of coordinates that is shown. */
interface Located {
  readonly turnIds: readonly string[];
  readonly names: readonly string[];
  /** Row-major [T, names.length]. */
  readonly values: Float64Array;
}

/** Lets a notebook show coordinates as a table with a row for each turn. @returns the same object. */
export function displayCoordinates<T extends Located>(coordinates: T): T {
  return attachDisplay(coordinates, ({ turnIds, names, values }) => {
    const rows = turnIds.map((turn, row) => ({
      turn: stateShown(turn),
      ...Object.fromEntries(names.map((name, column) => [name, values[row * names.length + column]])),
    }));
    return buildTableBundle(rows, { caption: phrase`trajectory coordinates of ${turnIds.length} turns` });
  });
}
