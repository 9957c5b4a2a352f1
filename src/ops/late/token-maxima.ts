import { once } from '../../core/values/once.ts';

/** The tokens of N turns as rows of 8 bits, one turn after the other; see `TokenRows`. */
export interface TokenBytes {
  /** Row-major [S, D]. */
  readonly vectors: Int8Array;
  /** [S] */
  readonly scales: Float32Array;
  /** [N + 1] */
  readonly starts: Int32Array;
  /** D. */
  readonly dimension: number;
}

/** `token-maxima.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABFQJgCH9/f39/f39/AGAFe3t7e30BewIQAQRob3N0Bm1lbW9yeQIAAQMDAgABBwoBBm1heGltYQAACtwHArgGAgl/DHsgBkEIbCEQAkADQCAIIANPDQEgAiAIQQJ0aigCACELIAIgCEECdGooAgQhDEEAIQkCQANAIAkgBU8NAUMAAID//RMhHCALIQoCQANAIApBAWogDE8NASAAIAogBmxqIQ0gDSAGaiEPIAQgCSAQbGohDv0MAAAAAAAAAAAAAAAAAAAAACET/QwAAAAAAAAAAAAAAAAAAAAAIRT9DAAAAAAAAAAAAAAAAAAAAAAhFf0MAAAAAAAAAAAAAAAAAAAAACEW/QwAAAAAAAAAAAAAAAAAAAAAIRf9DAAAAAAAAAAAAAAAAAAAAAAhGP0MAAAAAAAAAAAAAAAAAAAAACEZ/QwAAAAAAAAAAAAAAAAAAAAAIRoDQCAN/QEDACERIA0gBmr9AQMAIRIgDv0ABAAhGyATIBEgG/26Af2uASETIBcgEiAb/boB/a4BIRcgDv0ABBAhGyAUIBEgG/26Af2uASEUIBggEiAb/boB/a4BIRggDv0ABCAhGyAVIBEgG/26Af2uASEVIBkgEiAb/boB/a4BIRkgDv0ABDAhGyAWIBEgG/26Af2uASEWIBogEiAb/boB/a4BIRogDkHAAGohDiANQQhqIQ0gDSAPSQ0ACyAcIBMgFCAVIBYgASAKQQJ0aioCABAB/esBIRwgHCAXIBggGSAaIAEgCkECdGoqAgQQAf3rASEcIApBAmohCgwACwsgCiAMSQRAIAAgCiAGbGohDSANIAZqIQ8gBCAJIBBsaiEO/QwAAAAAAAAAAAAAAAAAAAAAIRP9DAAAAAAAAAAAAAAAAAAAAAAhFP0MAAAAAAAAAAAAAAAAAAAAACEV/QwAAAAAAAAAAAAAAAAAAAAAIRYDQCAN/QEDACERIBMgESAO/QAEAP26Af2uASETIBQgESAO/QAEEP26Af2uASEUIBUgESAO/QAEIP26Af2uASEVIBYgESAO/QAEMP26Af2uASEWIA5BwABqIQ4gDUEIaiENIA0gD0kNAAsgHCATIBQgFSAWIAEgCkECdGoqAgAQAf3rASEcCyAHIAggBWwgCWpBBHRqIBz9CwQAIAlBAWohCQwACwsgCEEBaiEIDAALCwufAQECeyAAIAH9DQABAgMQERITBAUGBxQVFhcgACAB/Q0ICQoLGBkaGwwNDg8cHR4f/a4BIQUgAiAD/Q0AAQIDEBESEwQFBgcUFRYXIAIgA/0NCAkKCxgZGhsMDQ4PHB0eH/2uASEGIAT9EyAFIAb9DQABAgMEBQYHEBESExQVFhcgBSAG/Q0ICQoLDA0ODxgZGhscHR4f/a4B/foB/eYBCw==';

/** Tokens and numbers that the kernel takes at a time. */
const [TOKENS, NUMBERS] = [4, 8];
const PAGE = 2 ** 16;

interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly maxima: (...numbers: number[]) => void;
}

const openKernel = once((): Kernel => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const module = new WebAssembly.Module(Buffer.from(KERNEL, 'base64'));
  const { exports } = new WebAssembly.Instance(module, { host: { memory } });
  return { memory, maxima: exports.maxima as Kernel['maxima'] };
});

const roundUp = (count: number, unit: number) => Math.ceil(count / unit) * unit;

/** The largest number of a row of 8 bits. */
const BYTE = 127;

/**
 * The largest integer whose products with `dimension` numbers of 8 bits add up to 32 bits; a multiple of 127, so that a
 * question which was kept in 8 bits is not rounded again.
 */
const limitNumbers = (dimension: number) =>
  BYTE * Math.floor(Math.min(32767, (2 ** 31 - 1) / (128 * dimension)) / BYTE);

/** Writes the tokens of a question as 16-bit integers, as the kernel reads them. @returns [T] the scale of each. */
function writeQuestion(question: Float32Array, dimension: number, padded: number, target: Int16Array): Float32Array {
  const most = limitNumbers(padded);
  const scales = new Float32Array(question.length / dimension);
  target.fill(0);
  for (let t = 0; t < scales.length; t++) {
    const row = question.subarray(t * dimension, (t + 1) * dimension);
    const largest = row.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    if (largest === 0) continue;
    scales[t] = largest / most;
    const first = Math.floor(t / TOKENS) * TOKENS * padded + (t % TOKENS) * NUMBERS;
    for (let d = 0; d < dimension; d++) {
      const at = first + (d - (d % NUMBERS)) * TOKENS + (d % NUMBERS);
      target[at] = Math.round(((row[d] as number) / largest) * most);
    }
  }
  return scales;
}

/**
 * The largest products of tokens as `computeTokenMaxima` gives them, for turns whose rows have 8 bits, by a kernel of
 * WebAssembly on one core, O(S T D). The question is rounded to 16 bits a number; one that was kept in 8 bits is not
 * rounded.
 *
 * @param question row-major [T, D]
 * @returns row-major [N, T]; NaN for a turn without a token.
 */
export function computeByteMaxima(
  { vectors, scales, starts, dimension }: TokenBytes,
  question: Float32Array,
): Float32Array {
  const { memory, maxima } = openKernel();
  const padded = roundUp(dimension, NUMBERS);
  const [count, width] = [starts.length - 1, question.length / dimension];
  const blocks = Math.ceil(width / TOKENS);
  const sizes = [scales.length * padded, 4 * scales.length, 4 * starts.length, 2 * blocks * TOKENS * padded];
  const places: number[] = [0];
  for (const size of [...sizes, 4 * count * blocks * TOKENS])
    places.push(roundUp((places.at(-1) as number) + size, 16));
  const [atRows, atScales, atStarts, atQuestion, atOut, end] = places as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  const { buffer } = memory;
  const rows = new Int8Array(buffer, atRows, scales.length * padded);
  if (padded === dimension) rows.set(vectors);
  else {
    rows.fill(0);
    for (let s = 0; s < scales.length; s++) rows.set(vectors.subarray(s * dimension, (s + 1) * dimension), s * padded);
  }
  new Float32Array(buffer, atScales, scales.length).set(scales);
  new Int32Array(buffer, atStarts, starts.length).set(starts);
  const written = new Int16Array(buffer, atQuestion, blocks * TOKENS * padded);
  const factors = writeQuestion(question, dimension, padded, written);
  maxima(atRows, atScales, atStarts, count, atQuestion, blocks, padded, atOut);
  const out = new Float32Array(buffer, atOut, count * blocks * TOKENS);
  const found = new Float32Array(count * width).fill(Number.NaN);
  for (let turn = 0; turn < count; turn++) {
    if (starts[turn] === starts[turn + 1]) continue;
    for (let t = 0; t < width; t++)
      found[turn * width + t] = (factors[t] as number) * (out[turn * blocks * TOKENS + t] as number);
  }
  return found;
}
