import { once } from '../../core/values/once.ts';
import { type CheckedRows, listRowNumbers, type RingSpan } from './attention-rows.ts';
import { allocateTerms, hideKeys, type LogitTerms, MASKED, type RingAttentionOptions, writeTerms } from './options.ts';

/** `band-kernel.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABJwVgAXsBe2ACe3sBe2AGf39/f39/AGAHf39/fX9/fwBgBX9/f3x8AAIQAQRob3N0Bm1lbW9yeQIAAQMKCQAAAQICAgMCBAcwBgRwYWNrAAMFc2NvcmUABAZnYXRoZXIABQV3ZWlnaAAGA21peAAHBmZpbmlzaAAICv8RCecBAQN7IAD9DP6CK2VHFUdA/oIrZUcVR0D98gEhASAB/QwAAAAAAAA4QwAAAAAAADhD/fABIQMgASAD/QwAAAAAAAA4QwAAAAAAADhD/fEB/fEBIQL9DJQjkUv4arw+lCORS/hqvD4gAv3yAf0M88T6UM6/Lj/zxPpQzr8uP/3wASACIAL98gH98gH9DNZSDP9CLpY/1lIM/0Iulj8gAv3yAf0MAAAAAAAA8D8AAAAAAADwP/3wAf3wASADQS/9ywEgA/0dAadBH3FBA3QgA/0dAKdBH3FBA3T9XQMA/VcDAAH9zgH98gELUQAgAP0MAADQwgAA0MIAANDCAADQwv3pASEAIAD9XxAA/V4gACAA/Q0ICQoLDA0ODwgJCgsMDQ4P/V8QAP1e/Q0AAQIDBAUGBxAREhMUFRYXCz4AIAD9XyAB/fIB/V4gACAA/Q0ICQoLDA0ODwgJCgsMDQ4P/V8gAf3yAf1e/Q0AAQIDBAUGBxAREhMUFRYXC4QDAgJ/DHsCQANAIARFDQEgA/0KAwAhCCAD/QoDCCEJIAP9CgMQIQogA/0KAxghC0EAIQYDQCAAIAZqIQcgB/0ABAAgCBACIQwgByABaiEHIAf9AAQAIAkQAiENIAcgAWohByAH/QAEACAKEAIhDiAHIAFqIQcgB/0ABAAgCxACIQ8gDCAN/Q0AAQIDEBESEwQFBgcUFRYXIRAgDCAN/Q0ICQoLGBkaGwwNDg8cHR4fIREgDiAP/Q0AAQIDEBESEwQFBgcUFRYXIRIgDiAP/Q0ICQoLGBkaGwwNDg8cHR4fIRMgBSAQIBL9DQABAgMEBQYHEBESExQVFhf9CwQAIAUgECAS/Q0ICQoLDA0ODxgZGhscHR4f/QsEECAFIBEgE/0NAAECAwQFBgcQERITFBUWF/0LBCAgBSARIBP9DQgJCgsMDQ4PGBkaGxwdHh/9CwQwIAVBwABqIQUgBkEQaiEGIAYgAkkNAAsgACABQQJ0aiEAIANBIGohAyAEQQFrIQQMAAsLC+8DAgR/C3sgACACaiEHAkADQCADRQ0BIAAhBiABIAJqIQj9DAAAAAAAAAAAAAAAAAAAAAAhDf0MAAAAAAAAAAAAAAAAAAAAACEO/QwAAAAAAAAAAAAAAAAAAAAAIQ/9DAAAAAAAAAAAAAAAAAAAAAAhEP0MAAAAAAAAAAAAAAAAAAAAACER/QwAAAAAAAAAAAAAAAAAAAAAIRL9DAAAAAAAAAAAAAAAAAAAAAAhE/0MAAAAAAAAAAAAAAAAAAAAACEUA0AgAf0ABAAhCiAI/QAEACELIAb9CQIAIQwgDSAMIAr95gH95AEhDSAOIAwgC/3mAf3kASEOIAb9CQIEIQwgDyAMIAr95gH95AEhDyAQIAwgC/3mAf3kASEQIAb9CQIIIQwgESAMIAr95gH95AEhESASIAwgC/3mAf3kASESIAb9CQIMIQwgEyAMIAr95gH95AEhEyAUIAwgC/3mAf3kASEUIAFBEGohASAIQRBqIQggBkEQaiEGIAYgB0kNAAsgBCEJIAkgDf0LBAAgCSAO/QsEECAJIAVqIQkgCSAP/QsEACAJIBD9CwQQIAkgBWohCSAJIBH9CwQAIAkgEv0LBBAgCSAFaiEJIAkgE/0LBAAgCSAU/QsEECAIIQEgBEEgaiEEIANBAWshAwwACwsLfQECfyACIANrIQYDQCAFIAAgBiABbGogAiAGQXxxa0ECdGoqAgA4AgAgBUEEaiEFIAZBAWohBiAGIAJJDQALIAAgAiABbGogAkEDcUECdGohBiAFIARqIQcDQCAFIAb9AAQA/QsEACAFQRBqIQUgBkEQaiEGIAUgB0kNAAsLkgIDAX8DewF9IAP9EyEJA0AgACAHav0ABAAgASAHav0ABAD95gEgASACaiAHav0ABAD95AEhCCAAIAdqIAj9CwQAIAkgCP3pASEJIAdBEGohByAHIAJJDQALIAn9HwAgCf0fAZcgCf0fAiAJ/R8Dl5f9EyEJIAQEQCAJ/eEBEAEhCgtBACEHA0AgACAHav0ABAAgCf3lARABIAr95QEhCCAFIAj9WgIAACALIAj9HwCSIQsgBSAI/VoCEAEgCyAI/R8BkiELIAUgCP1aAiACIAsgCP0fApIhCyAFIAj9WgIwAyALIAj9HwOSIQsgBUHAAGohBSAHQRBqIQcgByACSQ0ACyAGIAs4AgAgBiAJ/VoCBAAL4AMCBX8LeyAAIAFBBHRqIQcDQCAAIQYgAiAJaiEI/QwAAAAAAAAAAAAAAAAAAAAAIQ79DAAAAAAAAAAAAAAAAAAAAAAhD/0MAAAAAAAAAAAAAAAAAAAAACEQ/QwAAAAAAAAAAAAAAAAAAAAAIRH9DAAAAAAAAAAAAAAAAAAAAAAhEv0MAAAAAAAAAAAAAAAAAAAAACET/QwAAAAAAAAAAAAAAAAAAAAAIRT9DAAAAAAAAAAAAAAAAAAAAAAhFQNAIAj9AAQAIQsgCP0ABBAhDCAG/QkCACENIA4gDSAL/eYB/eQBIQ4gDyANIAz95gH95AEhDyAG/QkCBCENIBAgDSAL/eYB/eQBIRAgESANIAz95gH95AEhESAG/QkCCCENIBIgDSAL/eYB/eQBIRIgEyANIAz95gH95AEhEyAG/QkCDCENIBQgDSAL/eYB/eQBIRQgFSANIAz95gH95AEhFSAIIANqIQggBkEQaiEGIAYgB0kNAAsgBSAJaiEKIAogDv0LBAAgCiAP/QsEECAKIARqIQogCiAQ/QsEACAKIBH9CwQQIAogBGohCiAKIBL9CwQAIAogE/0LBBAgCiAEaiEKIAogFP0LBAAgCiAV/QsEECAJQSBqIQkgCSAESQ0ACwuXAQIBfwN7IAAgAWohBSAD/RQhByAE/RQhCANAIAD9AAQAIQYgACAHIAL9AAQA/fIBIAb9X/3wASAI/fIB/V4gByAC/QAEEP3yASAGIAb9DQgJCgsMDQ4PCAkKCwwNDg/9X/3wASAI/fIB/V79DQABAgMEBQYHEBESExQVFhf9CwQAIAJBIGohAiAAQRBqIQAgACAFSQ0ACwsLhwIBAEEAC4ACAAAAAAAA8D90hRXTsNnvPw+J+WxYte8/UVsS0AGT7z97UX08uHLvP6q5aDGHVO8/OGJ1bno47z/h3h/1nR7vPxW3MQr+Bu8/y6k6N6fx7j8iNBJMpt7uPy2JYWAIzu4/Jyo21dq/7j+CT51WK7TuPylUSN0Hq+4/hVU6sH6k7j/NO39mnqDuP3Rf7Oh1n+4/hwHrcxSh7j8TzkyZiaXuP9ugKkLlrO4/5cXNsDe37j+Q8KOCkcTuP10lPrID1e4/rdNamZ/o7j9HXvvydv/uP5xShd2bGe8/aZDv3CA37z+HpPvcGFjvP1+bezOXfO8/2pCkoq+k7z9ARW5bdtDvPw==';

/** The functions of the kernel, on places in its memory in bytes; its text describes them. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  pack(rows: number, stride: number, bytes: number, scales: number, panels: number, out: number): void;
  score(queries: number, keys: number, bytes: number, pairs: number, out: number, stride: number): void;
  gather(products: number, stride: number, row: number, width: number, bytes: number, out: number): void;
  weigh(
    ...numbers: [cosines: number, terms: number, bytes: number, least: number, base: number, out: number, mass: number]
  ): void;
  mix(weights: number, count: number, values: number, stride: number, bytes: number, out: number): void;
  finish(band: number, bytes: number, sum: number, far: number, scale: number): void;
}

const PAGE = 2 ** 16;
/** Bytes of a number, and of a line of a processor's cache. */
const [NUMBER, LINE] = [4, 64];
/** Bytes at the start of the memory that the kernel keeps its own numbers in. */
const OWN = 256;

const compile = once(() => new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));

function instantiate(): Kernel {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { exports } = new WebAssembly.Instance(compile(), { host: { memory } });
  return { memory, ...exports } as unknown as Kernel;
}

/**
 * Calls share one memory, since fresh pages cost more than the work on them. A memory never becomes smaller, so large
 * calls have one of their own.
 */
const openShared = once(instantiate);
const MOST_SHARED_BYTES = 2 ** 26;

/** Queries of a tile, and rows of a panel, in which numbers of the same column lie side by side. */
const LANES = 4;
/** Positions from the first query of a tile, or of a window, to its last: few, so that the rows stay in a cache. */
const TILE_STEPS = 8;
export const WINDOW_STEPS = 256;
/** Rows after the band of a window that the kernel reads and multiplies by 0. */
const READ_AHEAD = 16;

const roundUp = (count: number, unit: number) => Math.ceil(count / unit) * unit;

/** A line more than a row: of rows a power of two apart, a cache holds few. */
const padRow = (width: number) => roundUp(Math.max(width, 1), 8) + LINE / NUMBER;

/** Places in the memory of the kernel, in bytes from its start. Each window writes all of them. */
function layOut({ keys, values, dimension, valueWidth }: CheckedRows, width: number) {
  let end = OWN;
  const reserve = (bytes: number) => {
    const place = end;
    end = roundUp(end + bytes, LINE);
    return place;
  };
  const halo = roundUp(width, LANES);
  const rows = WINDOW_STEPS + 2 * halo + READ_AHEAD;
  const columns = roundUp(2 * width + 1, LANES);
  const [keyBytes, valueBytes] = [NUMBER * padRow(dimension), NUMBER * padRow(valueWidth)];
  const panelBytes = LANES * (keyBytes - LINE);
  const cosineBytes = NUMBER * roundUp(columns + TILE_STEPS + LANES, 2 * LANES);
  const productBytes = NUMBER * roundUp(width + LANES, 2 * LANES);
  const valuesAt = reserve(rows * valueBytes);
  const places = {
    values: valuesAt,
    keys: keys === values ? valuesAt : reserve(rows * keyBytes),
    scales: reserve(2 * NUMBER * rows),
    panels: reserve((rows / LANES) * panelBytes),
    queries: reserve(LANES * keyBytes),
    queryScales: reserve(2 * NUMBER * LANES),
    queryPanel: reserve(panelBytes),
    products: reserve((WINDOW_STEPS + halo) * productBytes + LINE),
    cosines: reserve(LANES * cosineBytes),
    fullTerms: reserve(2 * NUMBER * columns),
    terms: reserve(2 * NUMBER * columns),
    weights: reserve(NUMBER * LANES * (columns + TILE_STEPS)),
    masses: reserve(2 * NUMBER * LANES),
    band: reserve(LANES * valueBytes),
    far: reserve(2 * valueBytes),
  };
  return { ...places, end, halo, columns, keyBytes, valueBytes, panelBytes, productBytes, cosineBytes };
}

/**
 * The band of ring attention by a kernel of WebAssembly, on one core and outside of any backend: for each query the
 * weights exp(logit - m) less c exp(-m), with m the largest logit, and the values weighted by them. Outside of the band
 * a logit is 0 (multiplicative, c = 1) or masked (additive, c = 0), and its weight 0. Four queries at a time meet the
 * keys of their own bands alone: O(B W (D + V)).
 */
export class BandKernel {
  readonly #rows: CheckedRows;
  readonly #width: number;
  readonly #options: RingAttentionOptions;
  readonly #masked: 0 | typeof MASKED;
  readonly #kernel: Kernel;
  readonly #layout: ReturnType<typeof layOut>;
  /** Terms of queries that see their whole band. */
  readonly #fullTerms: LogitTerms;
  #numbers = new Float32Array();
  /** [V] */
  #far = new Float64Array();
  /** The position of the first row in the memory. */
  #first = 0;

  /** @param width W, with 2 W + 1 < T */
  constructor(rows: CheckedRows, width: number, options: RingAttentionOptions) {
    this.#rows = rows;
    this.#width = width;
    this.#options = options;
    this.#masked = options.combine === 'multiplicative' ? 0 : MASKED;
    this.#layout = layOut(rows, width);
    this.#kernel = this.#layout.end <= MOST_SHARED_BYTES ? openShared() : instantiate();
    // In the middle of a conversation that is long enough.
    this.#fullTerms = this.#computeTerms(width, 2 * width + 1);
  }

  /**
   * Copies the rows around some queries into the memory, which other calls share: nothing may be awaited before the
   * last tile of the window.
   *
   * @param queries within {@link WINDOW_STEPS} steps
   */
  openWindow(queries: RingSpan): void {
    const { keys, keyScales, values, turns, ringPositions, dimension, valueWidth } = this.#rows;
    const { memory, pack } = this.#kernel;
    const at = this.#layout;
    const missing = at.end - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    this.#numbers = new Float32Array(memory.buffer);
    this.#far = new Float64Array(memory.buffer, at.far, valueWidth);
    this.#first = (ringPositions[queries.first] as number) - at.halo;
    const last = ringPositions[queries.first + queries.count - 1] as number;
    const count = roundUp(last - this.#first + this.#width + READ_AHEAD, LANES);
    const rows = listRowNumbers({ first: this.#first, count }, turns);
    this.#copyRows(values, valueWidth, rows, at.values);
    if (at.keys !== at.values) this.#copyRows(keys, dimension, rows, at.keys);
    this.#copyScales(keyScales, rows, at.scales);
    pack(at.keys, at.keyBytes, at.panelBytes / LANES, at.scales, count / LANES, at.panels);
    this.#copyTerms(this.#fullTerms, at.fullTerms);
    if (this.#isEveryTurn) this.#multiplyRows(last - this.#first + 1);
  }

  /** True if each turn asks from its own position with its key: a product of two rows then serves both. */
  get #isEveryTurn(): boolean {
    return this.#rows.queries === this.#rows.keys && this.#rows.queryRingPositions === undefined;
  }

  /** Products of each of some rows with itself and the rows after it, panel by panel. */
  #multiplyRows(count: number): void {
    const { panels, panelBytes, products, productBytes } = this.#layout;
    const pairs = productBytes / NUMBER / (2 * LANES);
    for (let panel = 0; panel < count / LANES; panel++) {
      const place = panels + panel * panelBytes;
      this.#kernel.score(place, place, panelBytes, pairs, products + panel * LANES * productBytes, productBytes);
    }
    // The terms of the last rows are padded with columns beyond their products.
    const end = (products + roundUp(count, LANES) * productBytes) / NUMBER;
    this.#numbers.fill(0, end, end + LINE / NUMBER);
  }

  /** Splits the queries of a window: at most four within a few steps. */
  splitIntoTiles({ first, count }: RingSpan): RingSpan[] {
    const { ringPositions } = this.#rows;
    const tiles: RingSpan[] = [];
    for (let start = first, end = first; start < first + count; start = end) {
      const beyond = (ringPositions[start] as number) + TILE_STEPS;
      while (end < first + count && end - start < LANES && (ringPositions[end] as number) < beyond) end++;
      tiles.push({ first: start, count: end - start });
    }
    return tiles;
  }

  /** Computes the band of the queries of a tile, which {@link finishRow} reads. */
  attendTile(tile: RingSpan): void {
    const { ringPositions } = this.#rows;
    const at = this.#layout;
    const start = ringPositions[tile.first] as number;
    const steps = (ringPositions[tile.first + tile.count - 1] as number) - start;
    const column = start - this.#width - this.#first;
    const before = this.#isEveryTurn ? this.#gatherCosines(tile) : this.#multiplyQueries(tile, column, steps);
    this.#numbers.fill(0, at.weights / NUMBER, at.masses / NUMBER);
    for (let lane = 0; lane < tile.count; lane++) {
      const shift = (ringPositions[tile.first + lane] as number) - start;
      const cosines = at.cosines + lane * at.cosineBytes + NUMBER * before(shift);
      const weights = at.weights + NUMBER * (LANES * shift + lane);
      const [terms, isMultiplicative] = [this.#findTerms(tile.first + lane), Number(this.#masked === 0)];
      const mass = at.masses + 2 * NUMBER * lane;
      this.#kernel.weigh(cosines, terms, NUMBER * at.columns, this.#masked, isMultiplicative, weights, mass);
    }
    const count = steps + 2 * this.#width + 1;
    this.#kernel.mix(
      at.weights,
      count,
      at.values + column * at.valueBytes,
      at.valueBytes,
      at.valueBytes - LINE,
      at.band,
    );
  }

  /** [sum of the weights, largest logit] of a query of the tile. */
  readMass(lane: number): { readonly mass: number; readonly largest: number } {
    const place = this.#layout.masses / NUMBER + 2 * lane;
    return { mass: this.#numbers[place] as number, largest: this.#numbers[place + 1] as number };
  }

  /**
   * Completes a query of the tile: (far * sum + band) * scale in float64.
   *
   * @param sum [V]
   * @returns [V] a view that lasts until the next tile
   */
  finishRow(lane: number, sum: Float64Array, far: number, scale: number): Float32Array {
    const { band, valueBytes, far: farAt } = this.#layout;
    const place = band + lane * (valueBytes - LINE);
    this.#far.set(sum);
    this.#kernel.finish(place, valueBytes - LINE, farAt, far, scale);
    return this.#numbers.subarray(place / NUMBER, place / NUMBER + sum.length);
  }

  /** Copies rows into the memory, zeros after each. */
  #copyRows(matrix: Float32Array, width: number, rows: Int32Array, place: number): void {
    const stride = padRow(width);
    for (let row = 0, to = place / NUMBER; row < rows.length; row++, to += stride) {
      const from = (rows[row] as number) * width;
      this.#numbers.set(matrix.subarray(from, from + width), to);
      this.#numbers.fill(0, to + width, to + stride);
    }
  }

  #copyScales(scales: Float64Array, rows: Int32Array, place: number): void {
    const target = new Float64Array(this.#numbers.buffer, place, rows.length);
    for (let row = 0; row < rows.length; row++) target[row] = scales[rows[row] as number] as number;
  }

  #copyTerms({ slope, offset, columns }: LogitTerms, place: number): void {
    this.#numbers.set(slope, place / NUMBER);
    this.#numbers.set(offset, place / NUMBER + columns);
  }

  /** Writes the cosines of a tile with its band. @returns the first column of a query by its steps from the first */
  #gatherCosines({ first, count }: RingSpan): (shift: number) => number {
    const { products, productBytes, cosines, cosineBytes, columns } = this.#layout;
    for (let lane = 0; lane < count; lane++) {
      const row = (this.#rows.ringPositions[first + lane] as number) - this.#first;
      const after = NUMBER * (columns - this.#width);
      this.#kernel.gather(products, productBytes, row, this.#width, after, cosines + lane * cosineBytes);
    }
    return () => 0;
  }

  /** The same for queries that are not among the keys, from the column of the first. */
  #multiplyQueries({ first, count }: RingSpan, column: number, steps: number): (shift: number) => number {
    const { queries, queryScales, order, dimension } = this.#rows;
    const { pack, score } = this.#kernel;
    const at = this.#layout;
    const rows = Int32Array.from({ length: LANES }, (_, lane) => order[first + Math.min(lane, count - 1)] as number);
    this.#copyRows(queries, dimension, rows, at.queries);
    this.#copyScales(queryScales, rows, at.queryScales);
    pack(at.queries, at.keyBytes, at.panelBytes / LANES, at.queryScales, 1, at.queryPanel);
    const before = column % LANES;
    const pairs = Math.ceil((before + steps + at.columns) / (2 * LANES));
    const panels = at.panels + ((column - before) / LANES) * at.panelBytes;
    score(at.queryPanel, panels, at.panelBytes, pairs, at.cosines, at.cosineBytes);
    return (shift) => before + shift;
  }

  /** The place of the terms of a query. */
  #findTerms(query: number): number {
    const { turns, order, ringPositions, keyMask } = this.#rows;
    const { fullTerms, terms: place } = this.#layout;
    const ringPosition = ringPositions[query] as number;
    const isInner = ringPosition >= this.#width && ringPosition + this.#width < turns;
    if (isInner && keyMask === undefined) return fullTerms;
    const terms = this.#computeTerms(ringPosition, turns);
    const keys = { first: ringPosition - this.#width, count: terms.columns };
    hideKeys(terms, this.#rows, order.subarray(query, query + 1), keys, this.#masked);
    this.#copyTerms(terms, place);
    return place;
  }

  #computeTerms(ringPosition: number, turns: number): LogitTerms {
    const width = this.#width;
    const terms = allocateTerms(1, this.#layout.columns, this.#masked);
    const keys = { first: ringPosition - width, count: 2 * width + 1 };
    const corner = { row: 0, column: 0 };
    writeTerms(terms, corner, Int32Array.of(ringPosition), keys, { turns, options: this.#options, width });
    return terms;
  }
}
