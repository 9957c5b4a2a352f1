import { once } from '../values/once.ts';
import { findFirstRows, multiplyRows, viewRow } from './rows.ts';

/** `row-products.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABCAFgBH9/f38AAwIBAAUDAQAQBxUCBm1lbW9yeQIACG11bHRpcGx5AAAK0wMB0AMGBX8CewF8An8CewF8IAIgAUEDdGohBAJAA0AgAiAETw0BIAAoAgAhByAAKAIEIQggACgCCCEMIAAoAgwhDf0MAAAAAAAAAAAAAAAAAAAAACEJ/QwAAAAAAAAAAAAAAAAAAAAAIQr9DAAAAAAAAAAAAAAAAAAAAAAhDv0MAAAAAAAAAAAAAAAAAAAAACEPIAggA0ECdGohBiAIIANBfHFBAnRqIQUCQANAIAggBU8NASAJIAf9AAQAIAj9XQMA/V/98gH98AEhCSAKIAf9AAQQIAj9XQMI/V/98gH98AEhCiAOIAz9AAQAIA39XQMA/V/98gH98AEhDiAPIAz9AAQQIA39XQMI/V/98gH98AEhDyAIQRBqIQggDUEQaiENIAdBIGohByAMQSBqIQwMAAsLIAn9IQAhCyAO/SEAIRACQANAIAggBk8NASALIAcrAwAgCCoCALuioCELIBAgDCsDACANKgIAu6KgIRAgCEEEaiEIIA1BBGohDSAHQQhqIQcgDEEIaiEMDAALCyACIAsgCf0hAaAgCv0hACAK/SEBoKA5AwAgAiAQIA79IQGgIA/9IQAgD/0hAaCgOQMIIAJBEGohAiAAQRBqIQAMAAsLCw==';

/** Pairs of rows in one call of the kernel, even; rows of the left matrix, and of the right, in its memory. */
const [MOST_PAIRS, MOST_LEFT, MOST_RIGHT] = [256, 64, 64];
/** With fewer numbers a loop is faster. */
const LEAST_WIDTH = 16;
/** Bytes of a pair, of a product, and of numbers of the left and the right matrix. */
const [PAIR, PRODUCT, LEFT, RIGHT] = [8, 8, 8, 4];
/** Bytes of the memory: pairs, products, rows of the left matrix, and rows of the right one in the rest. */
const MEMORY = 2 ** 20;
const ROWS = MOST_PAIRS * (PAIR + PRODUCT);

type Multiply = (pairs: number, count: number, products: number, width: number) => void;

const openKernel = once(() => {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));
  const { buffer } = exports.memory as WebAssembly.Memory;
  return {
    multiply: exports.multiply as Multiply,
    integers: new Int32Array(buffer),
    floats: new Float32Array(buffer),
    doubles: new Float64Array(buffer),
  };
});

/** For each pair the next one with the same row, -1 for none. @param firsts the first with it. */
function chainPairs(firsts: Int32Array): Int32Array {
  const next = new Int32Array(firsts.length).fill(-1);
  const last = new Int32Array(firsts.length); // by the first
  for (let pair = 0; pair < firsts.length; pair++) {
    const first = firsts[pair] as number;
    if (first !== pair) next[last[first] as number] = pair;
    last[first] = pair;
  }
  return next;
}

/**
 * Products of each row of a row-major matrix with the rows of another that are chosen for it, in float64: the bits of
 * {@link multiplyRows}, by a kernel of WebAssembly. A chosen row is copied before it is read, which takes less than to
 * wait for its numbers one by one. A row that up to 64 rows share is copied once for them.
 *
 * @param a row-major [B, D], float32
 * @param b row-major [N, D], float32
 * @param chosen row-major [B, C] rows of `b`; negative ones have the product 0.
 * @param width D
 * @returns row-major [B, C]
 */
export function multiplyChosenRows(a: Float32Array, b: Float32Array, chosen: Int32Array, width: number): Float64Array {
  const products = new Float64Array(chosen.length);
  const [left, columns] = [a.length / width, (chosen.length * width) / a.length];
  const leftRows = Math.min(MOST_LEFT, Math.floor((MEMORY - ROWS) / 2 / (LEFT * width)));
  if (width >= LEAST_WIDTH && leftRows > 0)
    for (let first = 0; first < left; first += leftRows) {
      const [start, end] = [first * columns, Math.min(left, first + leftRows) * columns];
      multiplyBlock(
        a.subarray(first * width, (first + leftRows) * width),
        b,
        chosen.subarray(start, end),
        width,
        products.subarray(start, end),
      );
    }
  else
    for (let pair = 0; pair < chosen.length; pair++) {
      const row = chosen[pair] as number;
      if (row >= 0) products[pair] = multiplyRows(a, Math.floor(pair / columns), b, row, width);
    }
  return products;
}

/** {@link multiplyChosenRows} of as many rows of the left matrix as the memory of the kernel holds, into `products`. */
function multiplyBlock(
  a: Float32Array,
  b: Float32Array,
  chosen: Int32Array,
  width: number,
  products: Float64Array,
): void {
  const { integers, floats, doubles } = openKernel();
  const columns = (chosen.length * width) / a.length;
  const firsts = findFirstRows(chosen, chosen);
  const next = chainPairs(firsts);
  const right = ROWS + LEFT * a.length;
  const room = Math.min(MOST_RIGHT, Math.floor((MEMORY - right) / (RIGHT * width)));
  doubles.set(a, ROWS / LEFT);
  const waiting = new Int32Array(MOST_PAIRS);
  let [count, copied] = [0, 0];
  for (let pair = 0; pair < chosen.length; pair++) {
    const row = chosen[pair] as number;
    if (row < 0 || firsts[pair] !== pair) continue;
    if (copied === room) {
      multiplyPairs(waiting, count, width, products);
      [count, copied] = [0, 0];
    }
    const place = right + RIGHT * width * copied++;
    floats.set(viewRow(b, width, row), place / RIGHT);
    for (let own = pair; own >= 0; own = next[own] as number) {
      if (count === MOST_PAIRS) {
        multiplyPairs(waiting, count, width, products);
        count = 0;
      }
      integers[2 * count] = ROWS + LEFT * width * Math.floor(own / columns);
      integers[2 * count + 1] = place;
      waiting[count++] = own;
    }
  }
  multiplyPairs(waiting, count, width, products);
}

/** Multiplies the pairs of rows that the memory of the kernel holds. @param pairs their places among the products. */
function multiplyPairs(pairs: Int32Array, count: number, width: number, products: Float64Array): void {
  const { multiply, integers, doubles } = openKernel();
  if (count % 2 === 1) integers.copyWithin(2 * count, 2 * count - 2, 2 * count);
  multiply(0, count + (count % 2), PAIR * MOST_PAIRS, width);
  for (let i = 0; i < count; i++) products[pairs[i] as number] = doubles[MOST_PAIRS + i] as number;
}
