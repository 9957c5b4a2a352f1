import { once } from '../values/once.ts';

/** `linear-kernel.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABEQJgBn9/f39/fwBgBH9/f38AAhABBGhvc3QGbWVtb3J5AgABAwQDAAABByMDB2FkZFJvd3MAAAxzdWJ0cmFjdFBhaXIAAQZyb3RhdGUAAgq1BwOhAwIGfwR7IAAgBWohCwJAA0AgA0EESQ0BIAEhBiAGIAJqIQcgByACaiEIIAggAmohCSAJIAJqIQEgBP0KAwAhDCAE/QoDCCENIAT9CgMQIQ4gBP0KAxghDyAEQSBqIQQgA0EEayEDIAAhCgNAIAogCv0ABAAgBv0ABAAgDP3yAf3wASAH/QAEACAN/fIB/fABIAj9AAQAIA798gH98AEgCf0ABAAgD/3yAf3wAf0LBAAgCiAK/QAEECAG/QAEECAM/fIB/fABIAf9AAQQIA398gH98AEgCP0ABBAgDv3yAf3wASAJ/QAEECAP/fIB/fAB/QsEECAGQSBqIQYgB0EgaiEHIAhBIGohCCAJQSBqIQkgCkEgaiEKIAogC0kNAAsMAAsLAkADQCADRQ0BIAEhBiABIAJqIQEgBP0KAwAhDCAEQQhqIQQgA0EBayEDIAAhCgNAIAogCv0ABAAgBv0ABAAgDP3yAf3wAf0LBAAgCiAK/QAEECAG/QAEECAM/fIB/fAB/QsEECAGQSBqIQYgCkEgaiEKIAogC0kNAAsMAAsLC8kBAgd/AnsgAyELIAQhDCADIAVqIQkgAyACQQN0aiEKA0AgACEGIAMhByAEIQggC/0KAwAhDSAM/QoDACEOA0AgBiAG/QAEACANIAj9AAQA/fIBIA4gB/0ABAD98gH98AH98QH9CwQAIAYgBv0ABBAgDSAI/QAEEP3yASAOIAf9AAQQ/fIB/fAB/fEB/QsEECAGQSBqIQYgB0EgaiEHIAhBIGohCCAHIAlJDQALIAAgAWohACALQQhqIQsgDEEIaiEMIAsgCkkNAAsLxAICAn8HeyACIANBBHRqIQQgAP0ABAAhCSAA/QAEECEKIAD9AAQgIQsgAP0ABDAhDANAIAAgAWshBSAC/QoDACEGIAL9CgMIIQcgBf0ABAAhCCAAIAcgCP3yASAGIAn98gH98AH9CwQAIAYgCP3yASAHIAn98gH98QEhCSAF/QAEECEIIAAgByAI/fIBIAYgCv3yAf3wAf0LBBAgBiAI/fIBIAcgCv3yAf3xASEKIAX9AAQgIQggACAHIAj98gEgBiAL/fIB/fAB/QsEICAGIAj98gEgByAL/fIB/fEBIQsgBf0ABDAhCCAAIAcgCP3yASAGIAz98gH98AH9CwQwIAYgCP3yASAHIAz98gH98QEhDCAFIQAgAkEQaiECIAIgBEkNAAsgACAJ/QsEACAAIAr9CwQQIAAgC/0LBCAgACAM/QsEMAs=';

/** The functions of the kernel, on places in its memory in bytes; its text describes them. */
interface Kernel {
  addRows(sums: number, rows: number, stride: number, count: number, factors: number, bytes: number): void;
  subtractPair(rows: number, stride: number, count: number, x: number, y: number, bytes: number): void;
  rotate(row: number, stride: number, pairs: number, count: number): void;
}

const PAGE = 2 ** 16;
/** Bytes of a number, and numbers of a line of a processor's cache. */
const [NUMBER, LINE] = [8, 8];
/** Numbers that the loops along a row take at a time. */
const STEP = 4;

const compile = once(() => new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));

/** Rows of float64 in a memory of the kernel, zero at first. */
export class KernelRows {
  readonly kernel: Kernel;
  /** Numbers of a row: an odd number of lines, since a cache holds few of the lines that are a power of two apart. */
  readonly width: number;
  /** Bytes from a row to the next. */
  readonly stride: number;
  readonly #numbers: Float64Array;

  /** @param width the least. */
  constructor(count: number, width: number) {
    this.width = LINE * (Math.ceil(width / LINE) | 1);
    this.stride = NUMBER * this.width;
    const memory = new WebAssembly.Memory({ initial: Math.ceil((count * this.stride) / PAGE) });
    const { exports } = new WebAssembly.Instance(compile(), { host: { memory } });
    this.kernel = exports as unknown as Kernel;
    this.#numbers = new Float64Array(memory.buffer);
  }

  /** The place of a number, in bytes. */
  place(row: number, column = 0): number {
    return row * this.stride + column * NUMBER;
  }

  /** Numbers from the start of a row on. */
  view(row: number, count: number): Float64Array {
    return this.#numbers.subarray(row * this.width, row * this.width + count);
  }
}

/** The bytes of N numbers, or of up to three more, since the loops along a row take four at a time. */
export function countBytes(numbers: number): number {
  return NUMBER * STEP * Math.ceil(numbers / STEP);
}
