/**
 * K sums to which terms are added and from which they are taken again, each held as a float64 and what rounding left of it (a second float64): cascaded
 * summation (ogita2005accurate). After m updates a sum is off by at most about m^2 2^-106 of the largest value it ever had, so that taking a heavy term out
 * leaves the light ones whole, which in plain float64 it does not.
 */
export class RunningSums {
  readonly #sums: Float64Array;
  readonly #remainders: Float64Array;

  /** @param size K */
  constructor(size: number) {
    this.#sums = new Float64Array(size);
    this.#remainders = new Float64Array(size);
  }

  add(at: number, term: number): void {
    const before = this.#sums[at] as number;
    const after = before + term;
    const part = after - before;
    this.#sums[at] = after;
    this.#remainders[at]! += before - (after - part) + (term - part);
  }

  getSum(at: number): number {
    return (this.#sums[at] as number) + (this.#remainders[at] as number);
  }

  /** The sums from `start` on. */
  listSums(start: number): Float64Array {
    const values = this.#sums.slice(start);
    const remainders = this.#remainders;
    for (let i = 0; i < values.length; i++) values[i]! += remainders[start + i] as number;
    return values;
  }

  clear(): void {
    this.#sums.fill(0);
    this.#remainders.fill(0);
  }
}
