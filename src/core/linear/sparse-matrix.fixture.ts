import { createRandom } from '../numbers/random.ts';
import type { SparseMatrix } from './sparse-matrix.ts';

/** Rows with 0 to 6 entries, so that groups of four and what is left of them both occur; and the same matrix in full. */
export function drawSparseMatrix(rows: number, columns: number): { sparse: SparseMatrix; full: number[][] } {
  const stream = createRandom(11, 'sparse');
  const full = Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
  const offsets = [0];
  const columnOf: number[] = [];
  const values: number[] = [];
  for (const [row, line] of full.entries()) {
    const chosen = stream.shuffle(Array.from({ length: columns }, (_, column) => column)).slice(0, row % 7);
    for (const column of chosen) {
      const value = stream.drawNormal();
      line[column] = value;
      columnOf.push(column);
      values.push(value);
    }
    offsets.push(values.length);
  }
  const sparse = {
    rows,
    columns,
    offsets: Int32Array.from(offsets),
    columnOf: Int32Array.from(columnOf),
    values: Float64Array.from(values),
  };
  return { sparse, full };
}
