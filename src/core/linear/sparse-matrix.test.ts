import { describe, expect, test } from 'vitest';
import { drawSparseMatrix } from './sparse-matrix.fixture.ts';
import { multiplySparseByDense, transpose } from './sparse-matrix.ts';

describe('sparse matrix', () => {
  const [rows, columns, width] = [17, 13, 5];
  const { sparse, full } = drawSparseMatrix(rows, columns);
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
