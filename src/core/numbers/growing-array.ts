type Numbers = Int32Array | Float32Array | Float64Array;

/** An array of numbers that grows at its end, each at O(1) on average. */
export class GrowingArray<T extends Numbers> {
  #buffer: T;
  #length: number;
  /** null while there are numbers that it lacks. */
  #view: T | null;

  /** @param numbers the first ones, which are copied when more come. */
  constructor(numbers: T) {
    this.#buffer = numbers;
    this.#length = numbers.length;
    this.#view = numbers;
  }

  get length(): number {
    return this.#length;
  }

  /** All numbers so far, not a copy. */
  get numbers(): T {
    this.#view ??= this.#buffer.subarray(0, this.#length) as T;
    return this.#view;
  }

  push(number: number): void {
    this.extend(1);
    this.#buffer[this.#length - 1] = number;
  }

  /** Adds zeros, which may be overwritten in {@link numbers}; the first ones take no more room than they need. */
  extend(count: number): void {
    const length = this.#length + count;
    if (length > this.#buffer.length) {
      const Numbers = this.#buffer.constructor as new (length: number) => T;
      const larger = new Numbers(Math.max(8, length, 2 * this.#length));
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    this.#length = length;
    this.#view = null;
  }
}
