import { once } from '../values/once.ts';
import { multiplyRows, viewRow } from './rows.ts';

/** `row-products.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABCQFgBX9/f39/AAMCAQAFAwEABAcVAgZtZW1vcnkCAAhtdWx0aXBseQAACokCAYYCAwR/AnsBfCACIANBA3RqIQgCQANAIAIgCE8NAf0MAAAAAAAAAAAAAAAAAAAAACEJ/QwAAAAAAAAAAAAAAAAAAAAAIQogACEFIAEgBEECdGohByABIARBfHFBAnRqIQYCQANAIAEgBk8NASAJIAX9AAQAIAH9XQMA/V/98gH98AEhCSAKIAX9AAQQIAH9XQMI/V/98gH98AEhCiABQRBqIQEgBUEgaiEFDAALCyAJ/SEAIQsCQANAIAEgB08NASALIAUrAwAgASoCALuioCELIAFBBGohASAFQQhqIQUMAAsLIAIgCyAJ/SEBoCAK/SEAIAr9IQGgoDkDACACQQhqIQIMAAsLCw==';

/** The memory of the kernel: products of at most 64 rows, the query, and the rows. */
const MEMORY_BYTES = 2 ** 18;
const MOST_ROWS = 64;
/** With fewer numbers a loop is faster. */
const LEAST_WIDTH = 16;

type Multiply = (query: number, row: number, product: number, count: number, width: number) => void;

const openKernel = once(() => {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));
  const { buffer } = exports.memory as WebAssembly.Memory;
  return {
    multiply: exports.multiply as Multiply,
    doubles: new Float64Array(buffer),
    floats: new Float32Array(buffer),
  };
});

/**
 * Products of row `i` of a row-major matrix with chosen rows of another, in float64: the bits of {@link multiplyRows},
 * by a kernel of WebAssembly. A row is copied before it is read, which takes less than to wait for its numbers one by
 * one.
 *
 * @param rows [C]; negative ones have the product 0.
 * @returns [C]
 */
export function multiplyChosenRows(
  a: Float32Array,
  i: number,
  b: Float32Array,
  rows: Int32Array,
  width: number,
): Float64Array {
  const first = MOST_ROWS + width;
  const room = Math.min(MOST_ROWS, Math.floor((MEMORY_BYTES - 8 * first) / (4 * width)));
  if (width < LEAST_WIDTH || room < 1)
    return Float64Array.from(rows, (row) => (row < 0 ? 0 : multiplyRows(a, i, b, row, width)));
  const products = new Float64Array(rows.length);
  const { multiply, doubles, floats } = openKernel();
  doubles.set(viewRow(a, width, i), MOST_ROWS);
  for (let start = 0; start < rows.length; start += room) {
    const count = Math.min(room, rows.length - start);
    for (let slot = 0, at = 2 * first; slot < count; slot++, at += width) {
      const row = rows[start + slot] as number;
      if (row < 0) floats.fill(0, at, at + width);
      else floats.set(viewRow(b, width, row), at);
    }
    multiply(8 * MOST_ROWS, 8 * first, 0, count, width);
    products.set(doubles.subarray(0, count), start);
  }
  return products;
}
