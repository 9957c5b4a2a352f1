type Numbers = Int32Array | Float64Array;

/** An array of numbers that grows at its end, each at O(1) on average. */
export class GrowingArray<T extends Numbers> {
  #buffer: T;
  #view: T;

  /** @param numbers the first ones, which are copied when more come. */
  constructor(numbers: T) {
    this.#buffer = numbers;
    this.#view = numbers;
  }

  get length(): number {
    return this.#view.length;
  }

  /** All numbers so far, not a copy. */
  get numbers(): T {
    return this.#view;
  }

  push(number: number): void {
    const { length } = this.#view;
    if (length === this.#buffer.length) {
      const Numbers = this.#buffer.constructor as new (length: number) => T;
      const larger = new Numbers(Math.max(8, 2 * length));
      larger.set(this.#view);
      this.#buffer = larger;
    }
    this.#buffer[length] = number;
    this.#view = this.#buffer.subarray(0, length + 1) as T;
  }
}
