import { describe, expect, test } from 'vitest';
import { ValidationError } from '../core/errors.ts';
import { createRandom } from '../core/random.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../model/candidates.ts';

/** The inputs of an index in the contract: N turns, some of which are twins with equal texts and vectors, so that scores tie. */
interface ContractCorpus {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
  readonly vectors: Float32Array;
  readonly dimension: number;
}

const [N, Q, D] = [101, 29, 17];

function drawSampleRow(row: number, prefix: string): { text: string; vector: number[] } {
  const stream = createRandom(row, prefix);
  const topic = row % 5;
  const words = Array.from({ length: 7 + stream.integer(11) }, () => `word${topic + stream.integer(6)}`);
  const raw = Array.from({ length: D }, (_, d) => (d === topic ? 1.5 : 0) + stream.drawNormal());
  const length = Math.hypot(...raw);
  return { text: `the ${words.join(' ')}`, vector: raw.map((value) => value / length) };
}

/** Every third turn repeats the one before it; ids are not in the order of positions. */
function drawContractCorpus(): ContractCorpus {
  const rows = Array.from({ length: N }, (_, row) => drawSampleRow(row % 3 === 2 ? row - 1 : row, 'turn'));
  return {
    ids: rows.map((_, row) => `turn-${String((row * 37) % N).padStart(3, '0')}`),
    texts: rows.map(({ text }) => text),
    vectors: Float32Array.from(rows.flatMap(({ vector }) => vector)),
    dimension: D,
  };
}

/** Cutoffs in no order, the empty prefix and the whole corpus among them. */
function drawContractQueries(): QueryBatch {
  const rows = Array.from({ length: Q }, (_, row) => drawSampleRow(row, 'query'));
  return {
    texts: rows.map(({ text }) => text),
    vectors: Float32Array.from(rows.flatMap(({ vector }) => vector)),
    cutoffs: Int32Array.from({ length: Q }, (_, query) => [0, N, 1, 2][query] ?? (query * 59) % N),
  };
}

function reorderQueries(queries: QueryBatch, order: readonly number[]): QueryBatch {
  return {
    texts: order.map((query) => queries.texts[query]!),
    vectors: Float32Array.from(order.flatMap((query) => [...queries.vectors.subarray(query * D, (query + 1) * D)])),
    cutoffs: Int32Array.from(order, (query) => queries.cutoffs[query]!),
  };
}

interface Row {
  readonly positions: number[];
  readonly scores: number[];
}

function readCandidateRow({ positions, scores, width }: Candidates, query: number): Row {
  const range = [query * width, (query + 1) * width] as const;
  return { positions: [...positions.subarray(...range)], scores: [...scores.subarray(...range)] };
}

/**
 * The contract of every candidate index, as tests. Every turn of the sample has a word and a direction in common with every query, so an index that sees c turns finds
 * min(k, c).
 */
export function describeCandidateIndex(name: string, make: (corpus: ContractCorpus) => CandidateIndex): void {
  describe(`candidate index contract: ${name}`, () => {
    const corpus = drawContractCorpus();
    const queries = drawContractQueries();

    async function searchOnce(batch: QueryBatch, k: number): Promise<Candidates> {
      const index = make(corpus);
      try {
        return await index.search(batch, k);
      } finally {
        index.dispose();
      }
    }

    test.each([7, 150])(
      'k = %i: as many as there are, strictly earlier, once each, and then empty places',
      async (k) => {
        const candidates = await searchOnce(queries, k);
        expect(candidates.width).toBe(k);
        expect(candidates.positions.length).toBe(Q * k);
        for (const [query, cutoff] of queries.cutoffs.entries()) {
          const { positions, scores } = readCandidateRow(candidates, query);
          const found = Math.min(k, cutoff);
          expect(new Set(positions.slice(0, found)).size).toBe(found);
          expect(positions.slice(0, found).every((position) => position >= 0 && position < cutoff)).toBe(true);
          expect(positions.slice(found).every((position) => position === -1)).toBe(true);
          expect(scores.slice(found).every((score) => score === 0)).toBe(true);
        }
      },
    );

    test.each([7, 150])('k = %i: score descending, equal scores by id descending', async (k) => {
      const candidates = await searchOnce(queries, k);
      for (const [query, cutoff] of queries.cutoffs.entries()) {
        const { positions, scores } = readCandidateRow(candidates, query);
        for (let i = 1; i < Math.min(k, cutoff); i++) {
          expect(Number.isFinite(scores[i])).toBe(true);
          const [before, after] = [corpus.ids[positions[i - 1]!]!, corpus.ids[positions[i]!]!];
          expect(scores[i - 1]! > scores[i]! || (scores[i - 1] === scores[i] && before > after)).toBe(true);
        }
      }
    });

    test('the order of the queries does not matter', async () => {
      const order = createRandom(7, 'order').shuffle([...queries.texts.keys()]);
      const straight = await searchOnce(queries, 7);
      const shuffled = await searchOnce(reorderQueries(queries, order), 7);
      for (const [i, query] of order.entries())
        expect(readCandidateRow(shuffled, i)).toEqual(readCandidateRow(straight, query));
    });

    test('what comes after the cutoff does not matter', async () => {
      const cutoff = 43;
      const batch = { ...queries, cutoffs: new Int32Array(Q).fill(cutoff) };
      const shorter = make({
        ...corpus,
        ids: corpus.ids.slice(0, cutoff),
        texts: corpus.texts.slice(0, cutoff),
        vectors: corpus.vectors.slice(0, cutoff * D),
      });
      expect((await searchOnce(batch, 11)).positions).toEqual((await shorter.search(batch, 11)).positions);
      shorter.dispose();
    });

    test('a second search with the same index gives the same, also after one that saw more', async () => {
      const index = make(corpus);
      const first = await index.search(queries, 7);
      await index.search({ ...queries, cutoffs: new Int32Array(Q).fill(N) }, 3);
      expect(await index.search(queries, 7)).toEqual(first);
      index.dispose();
    });

    test('no queries have no candidates', async () => {
      const none = { texts: [], vectors: new Float32Array(0), cutoffs: new Int32Array(0) };
      expect((await searchOnce(none, 7)).positions.length).toBe(0);
    });

    test('an impossible k or cutoff is refused', async () => {
      await expect(searchOnce(queries, 0)).rejects.toThrow(/^k is not a positive integer: 0; /);
      await expect(searchOnce(queries, 1.5)).rejects.toThrow(ValidationError);
      const late = { ...queries, cutoffs: queries.cutoffs.with(3, N + 1) };
      await expect(searchOnce(late, 7)).rejects.toThrow(/^cutoff is out of range: 102; /);
    });
  });
}
