import { once } from '../../core/values/once.ts';
import type { Distance } from '../../model/vector-index.ts';
import { sumSquares } from './vector-doors.ts';

/** `row-scan.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABEgJgBHt7e3sBfGAFf39/f3wBfwIQAQRob3N0Bm1lbW9yeQIAAQMEAwABAQcZAglmaW5kQWJvdmUAAQlmaW5kQmVsb3cAAgrcBQMvAQF7IAAgAf3kASACIAP95AH95AEhBCAE/R8AIAT9HwGSIAT9HwIgBP0fA5KSuwu9AgIEfwR7AkADQCAFIAJPDQH9DAAAAAAAAAAAAAAAAAAAAAAhCf0MAAAAAAAAAAAAAAAAAAAAACEK/QwAAAAAAAAAAAAAAAAAAAAAIQv9DAAAAAAAAAAAAAAAAAAAAAAhDCAAIQYgASADaiEIIAEgA0FAcWohBwJAA0AgASAHTw0BIAkgAf0ABAAgBv0ABAD95gH95AEhCSAKIAH9AAQQIAb9AAQQ/eYB/eQBIQogCyAB/QAEICAG/QAEIP3mAf3kASELIAwgAf0ABDAgBv0ABDD95gH95AEhDCABQcAAaiEBIAZBwABqIQYMAAsLAkADQCABIAhPDQEgCSAB/QAEACAG/QAEAP3mAf3kASEJIAFBEGohASAGQRBqIQYMAAsLIAkgCiALIAwQACAEY0UNASAFQQFqIQUMAAsLIAUL6gICBH8FewJAA0AgBSACTw0B/QwAAAAAAAAAAAAAAAAAAAAAIQn9DAAAAAAAAAAAAAAAAAAAAAAhCv0MAAAAAAAAAAAAAAAAAAAAACEL/QwAAAAAAAAAAAAAAAAAAAAAIQwgACEGIAEgA2ohCCABIANBQHFqIQcCQANAIAEgB08NASAB/QAEACAG/QAEAP3lASENIAkgDSAN/eYB/eQBIQkgAf0ABBAgBv0ABBD95QEhDSAKIA0gDf3mAf3kASEKIAH9AAQgIAb9AAQg/eUBIQ0gCyANIA395gH95AEhCyAB/QAEMCAG/QAEMP3lASENIAwgDSAN/eYB/eQBIQwgAUHAAGohASAGQcAAaiEGDAALCwJAA0AgASAITw0BIAH9AAQAIAb9AAQA/eUBIQ0gCSANIA395gH95AEhCSABQRBqIQEgBkEQaiEGDAALCyAJIAogCyAMEAAgBGRFDQEgBUEBaiEFDAALCyAFCw==';

/** Numbers that the kernel takes at a time. */
const LANES = 4;
const BYTES = 4;
const WASM_PAGE = 2 ** 16;
/** Rows of a page, unless they have more bytes than a page may have. */
const PAGE_ROWS = 1024;
const LARGEST_PAGE = 2 ** 28;
/** Half the distance of 1 from the next float32. */
const UNIT = 2 ** -24;
/** The least positive float32: what a product that is too small loses at most. */
const LEAST = 2 ** -149;

type Find = (query: number, row: number, count: number, bytes: number, bound: number) => number;

/** Rows in a memory of WebAssembly, behind the query that they are compared with. */
interface Block {
  /** The slot of its first row, and the one after its last. */
  readonly start: number;
  readonly end: number;
  /** [stride] */
  readonly query: Float32Array;
  /** [end - start, stride] */
  readonly rows: Float32Array;
  readonly findAbove: Find;
  readonly findBelow: Find;
}

const compile = once(() => new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));

function openBlock(start: number, count: number, stride: number): Block {
  const pages = Math.ceil(((count + 1) * stride * BYTES) / WASM_PAGE);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = new WebAssembly.Instance(compile(), { host: { memory } });
  return {
    start,
    end: start + count,
    query: new Float32Array(memory.buffer, 0, stride),
    rows: new Float32Array(memory.buffer, stride * BYTES, count * stride),
    findAbove: exports.findAbove as Find,
    findBelow: exports.findBelow as Find,
  };
}

/**
 * Vectors of D numbers by slot, as float32, and a scan for those near a query by a kernel of WebAssembly. Blocks of
 * rows are as large as all before them, up to a limit, so that rows are never copied as their number grows. What is not
 * written yet takes no memory of the system.
 */
export class ScannedRows {
  readonly dimension: number;
  /** D, rounded up to what the kernel takes at a time. */
  readonly #stride: number;
  readonly #pageRows: number;
  /** The block of each page. */
  readonly #pages: Block[] = [];
  /** The largest squared length of a row so far. */
  #largest = 0;

  /** @param dimension D */
  constructor(dimension: number) {
    this.dimension = dimension;
    this.#stride = LANES * Math.ceil(dimension / LANES);
    const most = Math.floor(LARGEST_PAGE / (this.#stride * BYTES));
    this.#pageRows = Math.max(1, Math.min(PAGE_ROWS, most));
  }

  /** @param vector [D] finite, at most 1e18 long; null: the row stays zero. */
  set(slot: number, vector: Float32Array | null): void {
    while (slot >= this.#pages.length * this.#pageRows) this.#grow();
    if (vector === null) return;
    this.#largest = Math.max(this.#largest, sumSquares(vector));
    const { start, rows } = this.#pages[Math.floor(slot / this.#pageRows)] as Block;
    rows.set(vector, (slot - start) * this.#stride);
  }

  #grow(): void {
    const most = Math.floor(LARGEST_PAGE / (this.#stride * BYTES * this.#pageRows));
    const pages = Math.max(1, Math.min(this.#pages.length, most));
    const start = this.#pages.length * this.#pageRows;
    const block = openBlock(start, pages * this.#pageRows, this.#stride);
    for (let page = 0; page < pages; page++) this.#pages.push(block);
  }

  /** [D] a view of the row of a slot that was set. */
  get(slot: number): Float32Array {
    const { start, rows } = this.#pages[Math.floor(slot / this.#pageRows)] as Block;
    const at = (slot - start) * this.#stride;
    return rows.subarray(at, at + this.dimension);
  }

  /**
   * Begins a scan for rows near a query; another scan of these rows ends it.
   *
   * @param query [D] finite, at most 1e18 long.
   */
  beginScan(metric: Distance, query: Float32Array): RowScan {
    for (const block of new Set(this.#pages)) block.query.set(query);
    const bound = metric === 'l2' ? boundSquares(this.dimension) : boundProducts(this.dimension, query, this.#largest);
    return { metric, bound };
  }

  /**
   * The first slot from `slot` to before `until` whose row may have a score of at least `worst`, by sums in float32 and a
   * bound of what they are off; `until` if no row may.
   *
   * @param worst a score as float32, as `scoreDistance` gives it.
   */
  findNear({ metric, bound }: RowScan, slot: number, until: number, worst: number): number {
    const [limit, bytes] = [bound(worst), this.#stride * BYTES];
    for (let from = slot; from < until; ) {
      const block = this.#pages[Math.floor(from / this.#pageRows)] as Block;
      const count = Math.min(block.end, until) - from;
      const find = metric === 'l2' ? block.findBelow : block.findAbove;
      const found = find(0, bytes * (1 + from - block.start), count, bytes, limit);
      if (found < count) return from + found;
      from += count;
    }
    return until;
  }
}

/** A query that rows are compared with. */
export interface RowScan {
  readonly metric: Distance;
  /** The sum in float32 beyond which the score of a row is below another score. */
  readonly bound: (worst: number) => number;
}

/**
 * Bounds how far a sum of products in float32 is off, as a share of the sum of their magnitudes. A product passes
 * D / 16 + 8 roundings, and n of them are off by at most n u / (1 - n u). The rest of the 16 is for what float64 and a
 * score of float32 round.
 */
function boundRounding(dimension: number): number {
  const roundings = (dimension / 16 + 16) * UNIT;
  return roundings < 0.5 ? 2 * roundings : Number.POSITIVE_INFINITY;
}

/** The magnitudes of products add up to at most the product of the lengths. */
function boundProducts(dimension: number, query: Float32Array, largest: number): RowScan['bound'] {
  const lengths = Math.sqrt(sumSquares(query) * largest);
  const margin = boundRounding(dimension) * lengths + 2 * dimension * LEAST;
  return (worst) => worst - margin;
}

function boundSquares(dimension: number): RowScan['bound'] {
  const [share, least] = [1 + boundRounding(dimension), 2 * dimension * LEAST];
  return (worst) => {
    if (worst <= 0) return Number.POSITIVE_INFINITY;
    const farthest = (1 + 4 * UNIT) / worst - 1; // of a score that rounds to `worst`
    return share * farthest ** 2 + least;
  };
}
