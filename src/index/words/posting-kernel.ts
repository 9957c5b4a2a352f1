import { ValidationError } from '../../core/errors/errors.ts';
import { once } from '../../core/values/once.ts';

/** `posting-kernel.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABRAdgCX9/f3x8f39/fwF/YAZ/fH9/f38AYAh/f398f39/fwBgBH9/f3wBf2AEf39/fwF/YAZ/f398f3wAYAV/f398fwF/AhABBGhvc3QGbWVtb3J5AgABAwgHAAECAwQFBgdWBwphY2N1bXVsYXRlAAAIYWRkRGVuc2UAAQthZGRTZWFyY2hlZAACCGtlZXBGcm9tAAMKa2VlcE1hcmtlZAAECWNvdW50U3VtcwAFCGxpc3RGcm9tAAYK0wYHrwEDBH8CfAJ/IAAgAkECdGohCSAHIAhBAnRqIQsCQANAIAAgCU8NASAAKAIAIQwgBiAMQQN0aiEKIAorAwAhDSADIAUgAS8BAEEDdGorAwCiIQ4gDUQAAAAAAAAAAGEhDyAOIARmIRAgCyAMNgIAIAsgDyAQcUECdGohCyAKIA0gDqBEAAAAAAAAAAAgD0UgEHIbOQMAIABBBGohACABQQJqIQEMAAsLIAsgB2tBAnYLVwEDfyAEIAVBAnRqIQYCQANAIAQgBk8NASAEKAIAIQggAyAIQQN0aiEHIAcgBysDACABIAIgACAIQQF0ai8BAEEDdGorAwCioDkDACAEQQRqIQQMAAsLC6MBAQd/IAYgB0ECdGohCAJAA0AgBiAITw0BIAYoAgAhCiAAIQsgAiEMAkADQCAMQQFNDQEgDEEBdiENIAsgDUECdGohDiAOIAsgDigCACAKTBshCyAMIA1rIQwMAAsLIAsoAgAgCkYEQCAFIApBA3RqIQkgCSAJKwMAIAMgBCABIAsgAGtBAXZqLwEAQQN0aisDAKKgOQMACyAGQQRqIQYMAAsLC3sDBX8BfAF/IAEhBCABIQYgASACQQJ0aiEFAkADQCAEIAVPDQEgBCgCACEIIAAgCEEDdGohByAHKwMAIQkgBiAINgIAIAkgA2YhCiAGIApBAnRqIQYgByAJRAAAAAAAAAAAIAobOQMAIARBBGohBAwACwsgBiABa0ECdgt2AQZ/IAIhBCACIQYgAiADQQJ0aiEFAkADQCAEIAVPDQEgBCgCACEIIAEgCEEDdGohByAGIAg2AgAgACAIai0AACEJIAYgCUECdGohBiAHIAcrAwBEAAAAAAAAAAAgCRs5AwAgBEEEaiEEDAALCyAGIAJrQQJ2C1UCAn8BfCABIAJBAnRqIQYCQANAIAEgBk8NASAAIAEoAgBBA3RqKwMAIQggBCAFIAMgCKKk/ANBAnRqIQcgByAHKAIAQQFqNgIAIAFBBGohAQwACwsLWgIDfwF8IAQhBiABIAJBAnRqIQUCQANAIAEgBU8NASABKAIAIQcgBiAHNgIAIAAgB0EDdGorAwAhCCAGIAggA2ZBAnRqIQYgAUEEaiEBDAALCyAGIARrQQJ2Cw==';

/** Places are in bytes, counts in documents; the text of the kernel describes the arrays. */
export interface PostingKernel {
  accumulate(
    positions: number,
    pairs: number,
    df: number,
    weight: number,
    least: number,
    shares: number,
    sums: number,
    found: number,
    count: number,
  ): number;
  addDense(dense: number, weight: number, shares: number, sums: number, found: number, count: number): void;
  addSearched(
    positions: number,
    pairs: number,
    df: number,
    weight: number,
    shares: number,
    sums: number,
    found: number,
    count: number,
  ): void;
  keepFrom(sums: number, found: number, count: number, least: number): number;
  keepMarked(marks: number, sums: number, found: number, count: number): number;
  countSums(sums: number, found: number, count: number, scale: number, bins: number, last: number): void;
  listFrom(sums: number, found: number, count: number, least: number, out: number): number;
}

const PAGE = 2 ** 16;
const MOST_PAGES = 2 ** 16;

const compile = once(() => new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));

/** The kernel with a memory that grows; what is allocated is zero, and stays. */
export class PostingMemory {
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly kernel: PostingKernel;
  #used = 0;
  int32 = new Int32Array(0);
  uint16 = new Uint16Array(0);
  uint8 = new Uint8Array(0);
  float64 = new Float64Array(0);

  constructor() {
    const { exports } = new WebAssembly.Instance(compile(), { host: { memory: this.#memory } });
    this.kernel = exports as unknown as PostingKernel;
    this.#view();
  }

  /**
   * Memory grows by half or more.
   *
   * @returns a place, a multiple of 8.
   * @throws ValidationError beyond 4 GiB, and where the machine has no memory left.
   */
  allocate(bytes: number): number {
    const place = this.#used;
    const end = place + 8 * Math.ceil(bytes / 8);
    const held = this.int32.byteLength / PAGE;
    const missing = Math.ceil(end / PAGE) - held;
    if (missing > 0) this.#grow(Math.max(missing, Math.min(MOST_PAGES - held, held >> 1)), end);
    this.#used = end;
    return place;
  }

  #grow(pages: number, bytes: number): void {
    try {
      this.#memory.grow(pages);
    } catch (cause) {
      const message = `lists of words need ${Math.ceil(bytes / 2 ** 20)} MiB, which the kernel of bm25 cannot have (at most 4096); divide the texts among several indexes`;
      throw new ValidationError(message, { bytes }, { cause });
    }
    this.#view();
  }

  /** Views end when the memory grows. */
  #view(): void {
    const { buffer } = this.#memory;
    this.int32 = new Int32Array(buffer);
    this.uint16 = new Uint16Array(buffer);
    this.uint8 = new Uint8Array(buffer);
    this.float64 = new Float64Array(buffer);
  }
}
