import { createRandom } from '../../core/numbers/random.ts';

/** The differences of one column as a sign-flip test sees them. */
export interface FlippedColumn {
  /** [G] */
  readonly sums: Float64Array;
  /** Magnitude from which a flipped sum is as extreme as the observed one. */
  readonly threshold: number;
}

/** Sign vectors that are counted at once: their bytes fit a cache, and the tables of sums cost little beside the lookups. */
const BATCH = 4096;
/** The values of a byte, which holds the signs of eight groups. */
const BYTES = 256;

/** [G / 8, 256] for each eight groups their signed sum by the byte of their signs. A set bit is a plus. */
function fillTables(sums: Float64Array, tables: Float64Array): void {
  for (let first = 0, base = 0; first < sums.length; first += 8, base += BYTES) {
    let negative = 0;
    for (let bit = 0; bit < 8; bit++) negative -= sums[first + bit] ?? 0;
    tables[base] = negative;
    for (let bit = 0, size = 1; bit < 8; bit++, size *= 2) {
      const twice = 2 * (sums[first + bit] ?? 0);
      for (let byte = 0; byte < size; byte++) tables[base + size + byte] = (tables[base + byte] as number) + twice;
    }
  }
}

/** Of some sign vectors, those whose flipped sum is as extreme as the column's. @param signs [count, width] */
function countExtreme({ threshold }: FlippedColumn, tables: Float64Array, signs: Uint8Array, width: number): number {
  let hits = 0;
  for (let at = 0; at < signs.length; at += width) {
    let total = 0;
    for (let byte = 0, base = 0; byte < width; byte++, base += BYTES)
      total += tables[base + (signs[at + byte] as number)] as number;
    if (Math.abs(total) >= threshold) hits++;
  }
  return hits;
}

/**
 * Draws sign vectors of G groups and counts how many make a column as extreme as it is. Each call draws new ones, the same for all of its columns, so that
 * the count of a column does not depend on the other columns.
 *
 * A sample costs G / 8 additions a column. The first call draws one flip at a time, the others 32 at a time.
 *
 * @returns a function that gives the count of each column.
 */
export function signFlipCounter(
  groups: number,
  seed: number,
): (columns: readonly FlippedColumn[], samples: number) => number[] {
  const stream = createRandom(seed, 'sign-flip-permutation');
  const width = Math.ceil(groups / 8);
  const tables = new Float64Array(width * BYTES);
  let isFirst = true;

  const drawFlips = (signs: Uint8Array) => {
    signs.fill(0);
    for (let at = 0; at < signs.length; at += width)
      for (let group = 0; group < groups; group++)
        if (stream.integer(2) === 1)
          signs[at + (group >> 3)] = (signs[at + (group >> 3)] as number) | (1 << (group & 7));
  };
  const drawWords = (signs: Uint8Array) => {
    for (let at = 0; at < signs.length; at += 4) {
      const word = stream.integer(2 ** 32);
      for (let byte = 0; byte < 4; byte++) signs[at + byte] = (word >>> (8 * byte)) & 255;
    }
  };

  return (columns, samples) => {
    const hits = columns.map(() => 0);
    for (let left = samples; left > 0; left -= BATCH) {
      const signs = new Uint8Array(Math.min(left, BATCH) * width);
      if (isFirst) drawFlips(signs);
      else drawWords(signs);
      for (const [c, column] of columns.entries()) {
        fillTables(column.sums, tables);
        hits[c] = (hits[c] as number) + countExtreme(column, tables, signs, width);
      }
    }
    isFirst = false;
    return hits;
  };
}
