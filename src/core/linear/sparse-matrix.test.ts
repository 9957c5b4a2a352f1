import { describe, expect, test } from 'vitest';
import { createRandom } from '../numbers/random.ts';
import { multiplySparseByDense, multiplySparseWithBreaks, type SparseMatrix, transpose } from './sparse-matrix.ts';

/** Rows with 0 to 6 entries, so that groups of four and what is left of them both occur; and the same matrix in full. */
function sample(rows: number, columns: number): { sparse: SparseMatrix; full: number[][] } {
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

describe('sparse matrix', () => {
  const [rows, columns, width] = [17, 13, 5];
  const { sparse, full } = sample(rows, columns);
  const dense = Float32Array.from({ length: columns * width }, (_, i) => Math.sin(i));

  test('its product with a dense matrix is the sum over the columns', () => {
    const product = multiplySparseByDense(sparse, dense, width);
    expect(product.length).toBe(rows * width);
    for (let row = 0; row < rows; row++) {
      for (let i = 0; i < width; i++) {
        let sum = 0;
        for (let column = 0; column < columns; column++) sum += full[row]![column]! * dense[column * width + i]!;
        expect(product[row * width + i]).toBeCloseTo(sum, 5);
      }
    }
  });

  test('its product with breaks is the same, and lets events in', async () => {
    expect(await multiplySparseWithBreaks(sparse, dense, width)).toEqual(multiplySparseByDense(sparse, dense, width));
    const large = sample(19_997, 31).sparse;
    let rang = false;
    setTimeout(() => {
      rang = true;
    }, 0);
    await multiplySparseWithBreaks(large, new Float32Array(31 * 2003).fill(1), 2003);
    expect(rang).toBe(true);
  });

  test('its transpose has rows and columns exchanged', () => {
    const transposed = transpose(sparse);
    const read = Array.from({ length: columns }, () => new Array<number>(rows).fill(0));
    for (let row = 0; row < columns; row++) {
      for (let entry = transposed.offsets[row]!; entry < transposed.offsets[row + 1]!; entry++) {
        read[row]![transposed.columnOf[entry]!] = transposed.values[entry]!;
      }
    }
    expect([transposed.rows, transposed.columns]).toEqual([columns, rows]);
    expect(read).toEqual(
      Array.from({ length: columns }, (_, c) => Array.from({ length: rows }, (_, r) => full[r]![c]!)),
    );
  });
});
