import { ValidationError } from '../../core/errors/errors.ts';
import { once } from '../../core/values/once.ts';

/** `posting-kernel.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABYApgC39/f3x/f3x8f39/AX9gBn98f39/fwBgCH9/f3x/f39/AGAGf39/f3x8AX9gBH9/f38Bf2AIf39/f3x8f3wAYAd/f39/fHx/AX9gBH9/f38AYAN/f38AYAN/f38BfwIQAQRob3N0Bm1lbW9yeQIAAQMMCwABAgMEBQYHCAkEB4sBCwphY2N1bXVsYXRlAAAIYWRkRGVuc2UAAQthZGRTZWFyY2hlZAACCGtlZXBGcm9tAAMKa2VlcE1hcmtlZAAECWNvdW50U3VtcwAFCGxpc3RGcm9tAAYKZmlsbEJvdW5kcwAHCm1hc2tCb3VuZHMACAtjb3VudEJvdW5kcwAJCmxpc3RCb3VuZHMACgq8Cwu8AQMEfwJ8An8gACACQQJ0aiELIAkgCkECdGohDQJAA0AgACALTw0BIAAoAgAhDiAIIA5BA3RqIQwgDCsDACEPIAMgBCABLwEAQQN0aisDAKIhECAPRAAAAAAAAAAAYSERIBAgBiAFIA5qLQAAuKKgIAdmIRIgDSAONgIAIA0gESAScUECdGohDSAMIA8gEKBEAAAAAAAAAAAgEUUgEnIbOQMAIABBBGohACABQQJqIQEMAAsLIA0gCWtBAnYLVwEDfyAEIAVBAnRqIQYCQANAIAQgBk8NASAEKAIAIQggAyAIQQN0aiEHIAcgBysDACABIAIgACAIQQF0ai8BAEEDdGorAwCioDkDACAEQQRqIQQMAAsLC6MBAQd/IAYgB0ECdGohCAJAA0AgBiAITw0BIAYoAgAhCiAAIQsgAiEMAkADQCAMQQFNDQEgDEEBdiENIAsgDUECdGohDiAOIAsgDigCACAKTBshCyAMIA1rIQwMAAsLIAsoAgAgCkYEQCAFIApBA3RqIQkgCSAJKwMAIAMgBCABIAsgAGtBAXZqLwEAQQN0aisDAKKgOQMACyAGQQRqIQYMAAsLC4gBAwV/AXwBfyABIQYgASEIIAEgAkECdGohBwJAA0AgBiAHTw0BIAYoAgAhCiAAIApBA3RqIQkgCSsDACELIAggCjYCACALIAQgAyAKai0AALiioCAFZiEMIAggDEECdGohCCAJIAtEAAAAAAAAAAAgDBs5AwAgBkEEaiEGDAALCyAIIAFrQQJ2C3YBBn8gAiEEIAIhBiACIANBAnRqIQUCQANAIAQgBU8NASAEKAIAIQggASAIQQN0aiEHIAYgCDYCACAAIAhqLQAAIQkgBiAJQQJ0aiEGIAcgBysDAEQAAAAAAAAAACAJGzkDACAEQQRqIQQMAAsLIAYgAmtBAnYLZgIDfwF8IAEgAkECdGohCAJAA0AgASAITw0BIAEoAgAhCiAAIApBA3RqKwMAIAQgAyAKai0AALiioCELIAYgByAFIAuipPwDQQJ0aiEJIAkgCSgCAEEBajYCACABQQRqIQEMAAsLC2cCA38BfCAGIQggASACQQJ0aiEHAkADQCABIAdPDQEgASgCACEJIAggCTYCACAAIAlBA3RqKwMAIAQgAyAJai0AALiioCEKIAggCiAFZkECdGohCCABQQRqIQEMAAsLIAggBmtBAnYLhQICBH8FeyAAIAFBBXRqIQYCQANAIAQgA08NAf0MAAAAAAAAAAAAAAAAAAAAACEJ/QwAAAAAAAAAAAAAAAAAAAAAIQr9DAAAAAAAAAAAAAAAAAAAAAAhC/0MAAAAAAAAAAAAAAAAAAAAACEMIAAhBQNAIAX9AAQAIQggBSgCECAEaiEHIAkgCCAH/QAEAP0O/XAhCSAKIAggB/0ABBD9Dv1wIQogCyAIIAf9AAQg/Q79cCELIAwgCCAH/QAEMP0O/XAhDCAFQSBqIQUgBSAGSQ0ACyACIARqIQUgBSAJ/QsEACAFIAr9CwQQIAUgC/0LBCAgBSAM/QsEMCAEQcAAaiEEDAALCws8ACABIAJqIQICQANAIAEgAk8NASABIAH9AAQAIAD9AAQA/WH9Tv0LBAAgAUEQaiEBIABBEGohAAwACwsLPQIBfwF7IAL9DyEEIAAgAWohAQJAA0AgACABTw0BIAMgAP0ABAAgBP0s/WRpaiEDIABBEGohAAwACwsgAwusAQIFfwF7IAL9DyEJIAMhCAJAA0AgBCABTw0BIAAgBGohBiAEQcAAaiEFIAb9AAQAIAb9AAQQ/XkgBv0ABCAgBv0ABDD9ef15IAn9LP1TBEADQCAAIARq/QAEACAJ/Sz9ZCEHAkADQCAHRQ0BIAggBCAHaGo2AgAgCEEEaiEIIAcgB0EBa3EhBwwACwsgBEEQaiEEIAQgBUkNAAsLIAUhBAwACwsgCCADa0ECdgs=';

/** Places are in bytes, counts in documents; the text of the kernel describes the arrays. */
export interface PostingKernel {
  accumulate(
    positions: number,
    pairs: number,
    df: number,
    weight: number,
    shares: number,
    bounds: number,
    unit: number,
    least: number,
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
  keepFrom(sums: number, found: number, count: number, bounds: number, unit: number, least: number): number;
  keepMarked(marks: number, sums: number, found: number, count: number): number;
  countSums(
    sums: number,
    found: number,
    count: number,
    bounds: number,
    unit: number,
    scale: number,
    bins: number,
    last: number,
  ): void;
  listFrom(
    sums: number,
    found: number,
    count: number,
    bounds: number,
    unit: number,
    least: number,
    out: number,
  ): number;
  fillBounds(words: number, count: number, bounds: number, end: number): void;
  maskBounds(marks: number, bounds: number, end: number): void;
  countBounds(bounds: number, end: number, least: number): number;
  listBounds(bounds: number, end: number, least: number, out: number): number;
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
