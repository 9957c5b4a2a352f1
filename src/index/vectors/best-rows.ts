import * as tf from '@tensorflow/tfjs-core';
import { readsFromCard } from '../../core/tensors/active-backend.ts';
import { matmul, matmulTransposed } from '../../core/tensors/matmul.ts';
import { transposeRows, viewRow } from '../../core/tensors/rows.ts';
import { readBack, scoped } from '../../core/tensors/scope.ts';
import { createWasmKernel, findWasmBackend } from '../../core/tensors/wasm-kernel.ts';
import type { Candidates } from '../../model/candidates.ts';
import { isZero } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';

/** `best-rows.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABDAFgB39/f39/f38BfwIQAQRob3N0Bm1lbW9yeQIAAQMCAQAHDQEJZmluZEFib3ZlAAAK4QUB3gUCBX8NeyAGIQcDQCAAIAJqIAEgACABSRshCP0MAAAAAAAAAAAAAAAAAAAAACER/QwAAAAAAAAAAAAAAAAAAAAAIRL9DAAAAAAAAAAAAAAAAAAAAAAhE/0MAAAAAAAAAAAAAAAAAAAAACEU/QwAAAAAAAAAAAAAAAAAAAAAIRX9DAAAAAAAAAAAAAAAAAAAAAAhFv0MAAAAAAAAAAAAAAAAAAAAACEX/QwAAAAAAAAAAAAAAAAAAAAAIRggAyEKQQAhCQNAIAr9AAQAIQ0gCv0ABBAhDiAK/QAEICEPIAr9AAQwIRAgACAJav0JAgAhDCARIAwgDf3mAf3kASERIBIgDCAO/eYB/eQBIRIgEyAMIA/95gH95AEhEyAUIAwgEP3mAf3kASEUIAggCWr9CQIAIQwgFSAMIA395gH95AEhFSAWIAwgDv3mAf3kASEWIBcgDCAP/eYB/eQBIRcgGCAMIBD95gH95AEhGCAKQcAAaiEKIAlBBGohCSAJIAJJDQALQQAhCyAE/QAEACEMIAsgESAM/UT9pAFyIQsgCyAVIAz9RP2kAUEQdHIhCyAE/QAEECEMIAsgEiAM/UT9pAFBBHRyIQsgCyAWIAz9RP2kAUEUdHIhCyAE/QAEICEMIAsgEyAM/UT9pAFBCHRyIQsgCyAXIAz9RP2kAUEYdHIhCyAE/QAEMCEMIAsgFCAM/UT9pAFBDHRyIQsgCyAYIAz9RP2kAUEcdHIhCyAIIABGBEAgC0H//wNxIQsLIAsEQCAFIBH9CwQAIAUgEv0LBBAgBSAT/QsEICAFIBT9CwQwIAUgFf0LBEAgBSAW/QsEUCAFIBf9CwRgIAUgGP0LBHADQCALaCEJIAYgACAIIAlBEEkbNgIAIAYgCUEPcTYCBCAGIAUgCUECdGoqAgA4AgggBkEMaiEGIAsgC0EBa3EhCyALDQALCyAAIAJBAXRqIQAgACABTQ0ACyAGIAdrCw==';

const openKernel = createWasmKernel<{
  findAbove(
    ...places: [row: number, last: number, bytes: number, panel: number, least: number, room: number, out: number]
  ): number;
}>(KERNEL);

const BYTES = 4;
/** Queries that the kernel takes at a time. */
const PANEL = 16;
/** For fewer queries, the product of the backend is faster than a panel that is mostly empty. */
const FEWEST = PANEL / 2;
/** Rows that the kernel compares with all queries before the next: they stay in the cache of a core. */
const CACHED_ROWS = 120;
/** Numbers of a record of the kernel: the place of a row, the number of a query, and their product. */
const RECORD = 3;
/** Stands for "not admissible": finite, as topk needs it, and below every cosine. */
const EXCLUDED = -2;
/** Rows of a group, of which libtensorflow first finds the largest score. */
const GROUP = 16;
/** Groups for each candidate that is asked for: with fewer, most groups would be read. */
const FEWEST_GROUPS = 2;

/** R' rows with a direction in descending order of their turn's id; the vectors lie on the device. */
export interface SearchedRows {
  readonly vectors: tf.Tensor2D; // [R', D]
  /** [R'] */
  readonly positions: Int32Array;
  /** [R'] */
  readonly validFrom: Int32Array;
  /** [R'] */
  readonly validTo: Int32Array;
}

/** Some queries of a search. */
export interface QueryPart {
  /** [B] */
  readonly queries: readonly number[];
  /** Row-major [B, D]. */
  readonly vectors: Float32Array;
  /** [B] */
  readonly cutoffs: Int32Array;
}

/** The number of queries that are taken at a time: a multiple of it wastes nothing. */
export function countQueriesTogether(): number {
  return findWasmBackend() === null ? 1 : PANEL;
}

/** Takes the best admissible rows of each query on the active backend. All ways find the same rows. */
export function takeBest(rows: SearchedRows, part: QueryPart, out: Candidates): Promise<void> {
  if (readsFromCard()) return takeBestOnCard(rows, part, out);
  if (part.queries.length >= FEWEST) {
    if (findWasmBackend() !== null) return takeBestByKernel(rows, part, out);
    const groups = rows.positions.length / GROUP;
    if (tf.getBackend() === 'tensorflow' && groups >= FEWEST_GROUPS * out.width)
      return takeBestByGroups(rows, part, out);
  }
  return takeBestOnHost(rows, part, out);
}

/** The scores of every row, whether a query may see it or not. @returns [R', B]: many rows on the left are fast. */
function scoreRows({ vectors: rows }: SearchedRows, { queries, vectors }: QueryPart): tf.Tensor2D {
  const dimension = vectors.length / queries.length;
  return matmul(rows, tf.tensor2d(transposeRows(vectors, dimension), [dimension, queries.length]));
}

/** [B] True for a query without a direction, which finds nothing. */
function listZeroQueries({ queries, vectors }: QueryPart): boolean[] {
  return queries.map((_, i) => isZero(viewRow(vectors, vectors.length / queries.length, i)));
}

/** The best admissible rows of each query so far, of equal ones the first, in whatever order they come. */
class BestRows {
  readonly #rows: SearchedRows;
  readonly #part: QueryPart;
  readonly #best: readonly TopSelection[];
  /** [B] or more: a lower score is not kept, nor an equal one of a later row. It never falls. */
  readonly least: Float32Array;

  /** @param least is overwritten. */
  constructor(rows: SearchedRows, part: QueryPart, width: number, least: Float32Array) {
    const kept = Math.min(width, rows.positions.length);
    this.#rows = rows;
    this.#part = part;
    this.#best = part.queries.map(() => new TopSelection(kept, (a, b) => a - b));
    this.least = least.fill(Infinity); // finds nothing
    for (const [i, none] of listZeroQueries(part).entries()) if (!none) least[i] = -Infinity;
  }

  /** Only here, where a score is among the best, the cutoff is read. */
  offer(i: number, row: number, score: number): void {
    const cutoff = this.#part.cutoffs[i]!;
    if (cutoff < this.#rows.validFrom[row]! || cutoff >= this.#rows.validTo[row]!) return;
    const best = this.#best[i]!;
    best.offer(row, score);
    this.least[i] = Math.max(this.least[i]!, best.least);
  }

  drainTo(out: Candidates): void {
    const { positions } = this.#rows;
    for (const [i, query] of this.#part.queries.entries()) {
      this.#best[i]!.drainTo(out, query);
      const start = query * out.width;
      for (let rank = start; rank < start + out.width && out.positions[rank]! >= 0; rank++)
        out.positions[rank] = positions[out.positions[rank]!]!;
    }
  }
}

/** Scores of the backend in one pass as they lie. */
export async function takeBestOnHost(rows: SearchedRows, part: QueryPart, out: Candidates): Promise<void> {
  const scores = await readBack('flat', () => scoreRows(rows, part)); // [R', B]
  const best = new BestRows(rows, part, out.width, new Float32Array(part.queries.length));
  const { least } = best;
  const { length: count } = least;
  for (let row = 0, start = 0; row < rows.positions.length; row++, start += count)
    for (let i = findAbove(scores, start, least, 0); i < count; i = findAbove(scores, start, least, i + 1))
      best.offer(i, row, scores[start + i]!);
  best.drainTo(out);
}

/** The first query from `i` on whose score is above its least. Calls in this loop would make it slower. */
function findAbove(scores: Float32Array, start: number, least: Float32Array, i: number): number {
  let at = i;
  while (at < least.length && !(scores[start + at]! > least[at]!)) at++;
  return at;
}

/**
 * By a kernel on the memory of the backend `wasm`, which multiplies and compares in one pass, so that the scores are
 * never written. They have the bits of the product of that backend.
 */
export async function takeBestByKernel(rows: SearchedRows, part: QueryPart, out: Candidates): Promise<void> {
  const backend = findWasmBackend()!;
  const { kernel, memory } = openKernel(backend);
  const [size, dimension] = rows.vectors.shape;
  const padded = PANEL * Math.ceil(part.queries.length / PANEL);
  const room = backend.makeOutput([padded * (dimension + 1) + 2 * PANEL + CACHED_ROWS * PANEL * RECORD], 'float32');
  try {
    const [first, panels] = [rows.vectors, room].map(({ dataId }) => backend.getMemoryOffset(dataId)) as [
      number,
      number,
    ];
    const [leastAt, bytes] = [panels + BYTES * padded * dimension, BYTES * dimension];
    const roomAt = leastAt + BYTES * padded;
    const outAt = roomAt + BYTES * 2 * PANEL;
    const [floats, places] = [new Float32Array(memory.buffer), new Uint32Array(memory.buffer)];
    writePanels(floats.subarray(panels / BYTES, leastAt / BYTES), part, dimension);
    const best = new BestRows(rows, part, out.width, floats.subarray(leastAt / BYTES, roomAt / BYTES));
    const { least } = best;
    for (let start = 0; start < size; start += CACHED_ROWS) {
      const end = Math.min(size, start + CACHED_ROWS);
      for (let from = 0; from < padded; from += PANEL) {
        const at = [first + start * bytes, first + (end - 1) * bytes, bytes, panels + from * bytes] as const;
        const written = kernel.findAbove(...at, leastAt + BYTES * from, roomAt, outAt);
        for (let record = outAt / BYTES; record < (outAt + written) / BYTES; record += RECORD) {
          const query = from + places[record + 1]!;
          const score = floats[record + 2]!;
          if (score > least[query]!) best.offer(query, (places[record]! - first) / bytes, score);
        }
      }
    }
    best.drainTo(out);
  } finally {
    backend.disposeData(room.dataId);
  }
}

/** Writes the queries as the kernel reads them: 16 at a time, number by number; zero where there is none. */
function writePanels(panels: Float32Array, { queries, vectors }: QueryPart, dimension: number): void {
  panels.fill(0);
  for (let i = 0; i < queries.length; i++)
    for (let d = 0, at = (i - (i % PANEL)) * dimension + (i % PANEL); d < dimension; d++, at += PANEL)
      panels[at] = vectors[i * dimension + d]!;
}

/**
 * By groups of rows: the device finds the largest admissible score of each group, and the host reads the groups with
 * the best k of them alone, besides the last 1 to 16 rows. If a row is in another group, each of the k has a row that
 * is better, or as good and earlier. So all of the best k are read, and the least of the k scores bounds theirs.
 */
export async function takeBestByGroups(rows: SearchedRows, part: QueryPart, out: Candidates): Promise<void> {
  const tensors = scoped('flat', () => scoreBestGroups(rows, part, out.width));
  try {
    const [largest, groups] = [await tensors.largest.data(), await tensors.groups.data()];
    const [scores, restScores] = [await tensors.scores.data(), await tensors.restScores.data()];
    const best = new BestRows(rows, part, out.width, new Float32Array(part.queries.length));
    const { least } = best;
    const rest = restScores.length / least.length;
    for (let i = 0, group = 0, at = 0; i < least.length; i++) {
      const end = group + out.width;
      least[i] = Math.max(least[i]!, largest[end - 1]!);
      for (; group < end; group++)
        for (let row = groups[group]! * GROUP, last = row + GROUP; row < last; row++, at++)
          if (scores[at]! >= least[i]!) best.offer(i, row, scores[at]!);
      for (let step = 0, row = rows.positions.length - rest; step < rest; step++, row++) {
        const score = restScores[i * rest + step]!;
        if (score >= least[i]!) best.offer(i, row, score);
      }
    }
    best.drainTo(out);
  } finally {
    tf.dispose(tensors);
  }
}

/** @returns the k groups of each query whose largest admissible scores are best, and the scores of all of their rows */
function scoreBestGroups(rows: SearchedRows, part: QueryPart, k: number) {
  const [count, dimension] = rows.vectors.shape;
  const asked = part.queries.length;
  const rest = ((count - 1) % GROUP) + 1; // never 0: a product of no rows fails on some backends
  const groupCount = (count - rest) / GROUP;
  const queries = tf.tensor2d(part.vectors, [asked, dimension]);
  const multiply = (first: number, size: number) =>
    matmulTransposed(queries, tf.slice(rows.vectors, [first, 0], [size, dimension])); // of the first rows no copy
  const scores = multiply(0, count - rest); // [B, R'']
  const largest = tf.max(tf.reshape(hideRows(rows, part, scores), [asked, groupCount, GROUP]), 2); // [B, groups]
  const best = tf.topk(largest, k, true);
  const places = tf.add(
    best.indices,
    tf.mul(tf.reshape(tf.range(0, asked, 1, 'int32'), [asked, 1]), tf.scalar(groupCount, 'int32')),
  );
  return {
    largest: best.values, // [B, K]
    groups: best.indices, // [B, K]
    scores: tf.gather(tf.reshape(scores, [asked * groupCount, GROUP]), tf.reshape(places, [asked * k])), // [B K, GROUP]
    restScores: multiply(count - rest, rest), // [B, rest]
  };
}

/** The scores with those that their query may not see at -Infinity. */
function hideRows(rows: SearchedRows, { cutoffs }: QueryPart, scores: tf.Tensor2D): tf.Tensor2D {
  const [asked, count] = scores.shape;
  const [validFrom, validTo] = [rows.validFrom.subarray(0, count), rows.validTo.subarray(0, count)];
  const moments = cutoffs.toSorted();
  const [first, last] = [moments[0]!, moments.at(-1)!];
  if (validFrom.every((from) => from <= first) && validTo.every((to) => last < to)) return scores;
  const column = tf.tensor2d(cutoffs, [asked, 1], 'int32');
  const begun = tf.greaterEqual(column, tf.tensor2d(validFrom, [1, count], 'int32'));
  const admissible = tf.logicalAnd(begun, tf.less(column, tf.tensor2d(validTo, [1, count], 'int32'))); // [B, R'']
  return tf.where(admissible, scores, tf.fill([asked, count], Number.NEGATIVE_INFINITY));
}

/** The same on a card, from which only the best are read. */
export async function takeBestOnCard(rows: SearchedRows, part: QueryPart, out: Candidates): Promise<void> {
  const kept = Math.min(out.width, rows.positions.length);
  const { values, indices } = scoped('flat', () => selectBestRows(rows, part, kept));
  try {
    const [scores, found] = [await values.data(), await indices.data()];
    const none = listZeroQueries(part);
    for (const [i, query] of part.queries.entries())
      for (let rank = 0; rank < kept && !none[i]; rank++) {
        const score = scores[i * kept + rank]!;
        if (score === EXCLUDED) break; // scores descend
        out.positions[query * out.width + rank] = rows.positions[found[i * kept + rank]!]!;
        out.scores[query * out.width + rank] = score;
      }
  } finally {
    tf.dispose([values, indices]);
  }
}

/** @returns scores and rows, [B, K] each */
function selectBestRows(
  rows: SearchedRows,
  part: QueryPart,
  kept: number,
): { values: tf.Tensor2D; indices: tf.Tensor2D } {
  const scores = tf.transpose(scoreRows(rows, part)); // [B, R']
  const cutoffs = tf.tensor2d(Float32Array.from(part.cutoffs), [part.cutoffs.length, 1]);
  const uploadRow = (values: Int32Array) => tf.tensor2d(Float32Array.from(values), [1, values.length]);
  // 1 where admissible, else 0, by arithmetic: conditions that broadcast are slow on some backends.
  const begun = tf.clipByValue(tf.add(tf.sub(cutoffs, uploadRow(rows.validFrom)), 1), 0, 1); // [B, R']
  const notEnded = tf.clipByValue(tf.sub(uploadRow(rows.validTo), cutoffs), 0, 1); // [B, R']
  const admissible = tf.mul(begun, notEnded);
  const masked = tf.sub(tf.mul(scores, admissible), tf.mul(tf.sub(admissible, 1), EXCLUDED)) as tf.Tensor2D;
  return tf.topk(masked, kept, true);
}
