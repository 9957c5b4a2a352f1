import { once } from '../values/once.ts';

/** `float32.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABEQNgAXsBe2ADf399AGACf38AAwcGAAAAAQICBQMBAAEHJAQGbWVtb3J5AgADZXhwAAMHc29mdG1heAAEB3NpZ21vaWQABQqxCAZGAQF7IAD9DB8AAAAfAAAAHwAAAB8AAAD9TkED/asBIQEgAf0bASAB/RsA/V0DAP1XAwABIABBBf2sAf3HAUE0/csB/c4BC8MBAQN7/Qz+gitlRxVHQP6CK2VHFUdAIAD98gEhASAB/QwAAAAAAAA4QwAAAAAAADhD/fAB/QwAAAAAAAA4QwAAAAAAADhD/fEBIQIgASAC/fEBIQP9DJQjkUv4arw+lCORS/hqvD4gA/3yAf0M88T6UM6/Lj/zxPpQzr8uP/3wASADIAP98gH98gH9DNZSDP9CLpY/1lIM/0Iulj8gA/3yAf0MAAAAAAAA8D8AAAAAAADwP/3wAf3wASAC/fwBEAD98gELhAEBAXsgAP1fEAH9XiAAIAD9DQgJCgsMDQ4PCAkKCwwNDg/9XxAB/V79DQABAgMEBQYHEBESExQVFhchASABIAD9DAAA0MIAANDCAADQwgAA0ML9Q/1PIQH9DAAAgH8AAIB/AACAfwAAgH8gASAA/QwAALJCAACyQgAAskIAALJC/UT9Ugs5AQF/IAAgAUECdGohAwJAA0AgACADTw0BIAAgAP0ABAAgAv0T/eUBEAL9CwQAIABBEGohAAwACwsLlwECAn8BfSAAIAFBAnRqIQNDAACA/yEEIAAhAgJAA0AgAiADTw0BIAQgAioCAJchBCACQQRqIQIMAAsLIAAgASAEEANDAAAAACEEIAAhAgJAA0AgAiADTw0BIAQgAioCAJIhBCACQQRqIQIMAAsLAkADQCAAIANPDQEgACAA/QAEACAE/RP95wH9CwQAIABBEGohAAwACwsLyQMCAX8GeyAAIAFBAnRqIQICQANAIAAgAk8NASAA/QAEACEDIAP94AEhBP0MfwBAS38AQEt/AEBLfwBASyAE/Qw7qri/O6q4vzuquL87qri//eYB/eQBIQUgBUEX/asBIQYgBf0MfwBAS38AQEt/AEBLfwBAS/3lASEFIAQgBf0MAHIxPwByMT8AcjE/AHIxP/3mAf3kASAF/QyOvr81jr6/NY6+vzWOvr81/eYB/eQBIQf9DA2dKz0NnSs9DZ0rPQ2dKz0gB/0Mzs8HvM7PB7zOzwe8zs8HvP3mAf3kASEI/QxArSq+QK0qvkCtKr5ArSq+IAcgCP3mAf3kASEI/Qzj/v8+4/7/PuP+/z7j/v8+IAcgCP3mAf3kASEI/Qz7/3+/+/9/v/v/f7/7/3+/IAcgCP3mAf3kASEIIAYgByAG/eYBIAj95gH95AEhCCAIIAj9DAAAgD8AAIA/AACAPwAAgD/95AH95wEhCCAIIAT9DE+srkJPrK5CT6yuQk+srkL9RP1PIQggACAI/QwAAIA/AACAPwAAgD8AAIA/IAj95QEgA/0MAAAAAAAAAAAAAAAAAAAAAP1D/VL9CwQAIABBEGohAAwACwsL';

const PAGE = 2 ** 16;
/** The table of powers of two has 32 steps from 1 to 2. */
const POWERS = Float64Array.from({ length: 32 }, (_, i) => 2 ** (i / 32));
/** The byte at which numbers begin, after the table. */
const NUMBERS = POWERS.byteLength;

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly exp: (number: number, count: number, most: number) => void;
  readonly softmax: (number: number, count: number) => void;
  readonly sigmoid: (number: number, count: number) => void;
}

/**
 * Functions of a row of float32 on the host by a kernel of WebAssembly, with the bits of the kernels of the backend
 * `wasm`: a row of few numbers gets what tensors give, without a launch.
 */
class Float32Row {
  readonly #kernel: Exports;
  /** Numbers of the last caller, which the functions replace, so nothing may be awaited before them. */
  numbers: Float32Array;

  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));
    this.#kernel = exports as unknown as Exports;
    new Float64Array(this.#kernel.memory.buffer).set(POWERS);
    this.numbers = new Float32Array(this.#kernel.memory.buffer, NUMBERS);
  }

  /** Has room for `count` numbers at least; `numbers` is another array where there was less. */
  reserve(count: number): void {
    const missing = count + 3 - this.numbers.length; // the kernel computes four at a time
    if (missing <= 0) return;
    const { memory } = this.#kernel;
    memory.grow(Math.ceil((4 * missing) / PAGE));
    this.numbers = new Float32Array(memory.buffer, NUMBERS);
  }

  /** e^x of the first `count` numbers; up to three after them are overwritten. */
  exp(count: number): void {
    this.#kernel.exp(NUMBERS, count, 0);
  }

  /** e^x divided by their sum, of the first `count` numbers; up to three after them are overwritten. */
  softmax(count: number): void {
    this.#kernel.softmax(NUMBERS, count);
  }

  /** 1 / (1 + e^-x) of the first `count` numbers; up to three after them are overwritten. */
  sigmoid(count: number): void {
    this.#kernel.sigmoid(NUMBERS, count);
  }
}

/** The one row that all callers share. */
export const openFloat32Row = once(() => new Float32Row());
