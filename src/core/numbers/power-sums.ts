import { once } from '../values/once.ts';

/** `power-sums.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABHgRgAXwBfGABewF7YAR/f3x8AXxgB39/f39/f3wBfAIMAQRob3N0A2V4cAAAAwQDAQIDBQMBAAEHJQMGbWVtb3J5AgAJc3VtUG93ZXJzAAIMc2NhbGVOdW1iZXJzAAMKtQYDywQBB3sgAP0MAAAAAAAghsAAAAAAACCGwP1KIAD9DAAAAAAAAAAAAAAAAAAAAAD9S/1O/cMBRQRAIAD9IQAQAP0UIAD9IQEQAP0iAQ8LIAD97AEhAf0M/oIrZUcV9z/+gitlRxX3PyAA/fIB/QwAAAAAAADgPwAAAAAAAOA//fEB/XohAv0MAAAAAAAA8L8AAAAAAADwvyACIAH9DAAAAACyovA/AAAAALKi8D/9Sf1SIQIgAiAB/QwAAAAAQy7WPwAAAABDLtY//Uz9TiECIAAgAv0MAADg/kIu5j8AAOD+Qi7mP/3yAf3xASEDIAL9DHY8eTXvOeo9djx5Ne856j398gEhBCADIAT98QEhBSAFIAX98gEhBv0M0KS+cmk3Zj7QpL5yaTdmPiEH/Qzxa9LFQb27vvFr0sVBvbu+IAYgB/3yAf3wASEH/Qws3iWvalYRPyzeJa9qVhE/IAYgB/3yAf3wASEH/QyTvb4WbMFmv5O9vhZswWa/IAYgB/3yAf3wASEH/Qw+VVVVVVXFPz5VVVVVVcU/IAYgB/3yAf3wASEHIAUgBiAH/fIB/fEBIQcgBSAH/fIB/QwAAAAAAAAAQAAAAAAAAABAIAf98QH98wEhB/0MAAAAAAAA8D8AAAAAAADwPyAEIAf98QEgA/3xAf3xASEHIAcgAv0M/wMAAAAAOEP/AwAAAAA4Q/3wAUE0/csB/fIBIQf9DAAAAAAAAPA/AAAAAAAA8D8gAP3wASAHIAH9DAAAAAAAADA+AAAAAAAAMD79Sf1SC3kCAn8BeyAAIAFBA3RqIQQgACABQX5xQQN0aiEFAkADQCAAIAVPDQEgAP0ABAAgAv0U/fEBEAEhBiADIAb9IQCgIQMgAyAG/SEBoCEDIABBEGohAAwACwsgACAESQRAIAMgAP0KAwAgAv0U/fEBEAH9IQCgIQMLIAMLbAIDfwF8IAAgAUEDdGohBwJAA0AgACAHTw0BIAMgAmshCSACIAkgAiAJSBtBA3QhCCAAKwMAIAQgCGorAwCiIAUgCGorAwCgIQogACAKOQMAIAYgCqUhBiAAQQhqIQAgAkEBaiECDAALCyAGCw==';

const PAGE = 2 ** 16;

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly sumPowers: (number: number, count: number, most: number, sum: number) => number;
  readonly scaleNumbers: (
    number: number,
    count: number,
    steps: number,
    ring: number,
    slope: number,
    offset: number,
    most: number,
  ) => number;
}

/**
 * Sums of powers of e in float64 by a kernel of WebAssembly. Each power has the bits of `Math.exp` of V8, by the same
 * operations of fdlibm's `e_exp.c`, so sums are those of a loop in JavaScript. They stay the same on an engine whose
 * `Math.exp` differs, but for powers below 2^-1021 and above 1, which are its own.
 */
class PowerSums {
  readonly #kernel: Exports;
  /** The numbers that {@link add} reads: those of the last caller, so nothing may be awaited before it. */
  numbers: Float64Array;
  /** The first bytes of the tables of {@link scale}. */
  #slope = 0;
  #offset = 0;

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(KERNEL, 'base64'));
    this.#kernel = new WebAssembly.Instance(module, { host: { exp: Math.exp } }).exports as unknown as Exports;
    this.numbers = new Float64Array(this.#kernel.memory.buffer);
  }

  /** Has room for `count` numbers at least; `numbers` is another array where there was less. */
  reserve(count: number): void {
    if (count <= this.numbers.length) return;
    const { memory } = this.#kernel;
    memory.grow(Math.ceil((8 * (count - this.numbers.length)) / PAGE));
    this.numbers = new Float64Array(memory.buffer);
  }

  /** Keeps tables by distance for {@link scale}, of the last caller, after `count` numbers. */
  keepTerms(count: number, { slope, offset }: { readonly slope: Float64Array; readonly offset: Float64Array }): void {
    this.reserve(count + slope.length + offset.length);
    this.numbers.set(slope, count);
    this.numbers.set(offset, count + slope.length);
    this.#slope = slope.BYTES_PER_ELEMENT * count;
    this.#offset = this.#slope + slope.byteLength;
  }

  /**
   * Makes `x slope_d + offset_d` of the numbers `start` to `end` - 1. The first is d = `steps` away, each further one a
   * step more; or the other way round the ring, where that is nearer.
   *
   * @param ring turns on the ring; at least twice the last number of steps where there is none.
   * @returns the greatest of them and of `most`.
   */
  scale(start: number, end: number, steps: number, ring: number, most: number): number {
    return this.#kernel.scaleNumbers(8 * start, end - start, steps, ring, this.#slope, this.#offset, most);
  }

  /** `sum + e^(x_0 - most) + e^(x_1 - most) + ...` of the first `count` numbers, one after the other. */
  add(count: number, most: number, sum: number): number {
    return this.#kernel.sumPowers(0, count, most, sum);
  }
}

/** The one memory that all callers share. */
export const openPowerSums = once(() => new PowerSums());
