import { createRandom } from '../../core/numbers/random.ts';
import type { Candidates, QueryBatch } from '../../model/candidates.ts';

/** The inputs of an index in the contract: N turns, some of which are twins with equal texts and vectors, so that scores tie. */
export interface ContractCorpus {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
  readonly vectors: Float32Array;
  readonly dimension: number;
}

const D = 17;

function drawSampleRow(row: number, prefix: string): { text: string; vector: number[] } {
  const stream = createRandom(row, prefix);
  const topic = row % 5;
  const words = Array.from({ length: 7 + stream.integer(11) }, () => `word${topic + stream.integer(6)}`);
  const raw = Array.from({ length: D }, (_, d) => (d === topic ? 1.5 : 0) + stream.drawNormal());
  const length = Math.hypot(...raw);
  return { text: `the ${words.join(' ')}`, vector: raw.map((value) => value / length) };
}

/** Every third turn repeats the one before it; ids are not in the order of positions. */
export function drawContractCorpus(size: number): ContractCorpus {
  const rows = Array.from({ length: size }, (_, row) => drawSampleRow(row % 3 === 2 ? row - 1 : row, 'turn'));
  return {
    ids: rows.map((_, row) => `turn-${String((row * 37) % size).padStart(4, '0')}`),
    texts: rows.map(({ text }) => text),
    vectors: Float32Array.from(rows.flatMap(({ vector }) => vector)),
    dimension: D,
  };
}

/** Cutoffs in no order, the empty prefix and the whole corpus among them. */
export function drawContractQueries(count: number, size: number): QueryBatch {
  const rows = Array.from({ length: count }, (_, row) => drawSampleRow(row, 'query'));
  return {
    ids: rows.map((_, row) => `query-${row}`),
    texts: rows.map(({ text }) => text),
    vectors: Float32Array.from(rows.flatMap(({ vector }) => vector)),
    cutoffs: Int32Array.from({ length: count }, (_, query) => [0, size, 1, 2][query] ?? (query * 59) % size),
  };
}

interface CandidateRow {
  readonly positions: number[];
  readonly scores: number[];
}

export function readCandidateRow({ positions, scores, width }: Candidates, query: number): CandidateRow {
  const range = [query * width, (query + 1) * width] as const;
  return { positions: [...positions.subarray(...range)], scores: [...scores.subarray(...range)] };
}
