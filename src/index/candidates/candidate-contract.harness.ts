import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import {
  type ContractCorpus,
  drawContractCorpus,
  drawContractQueries,
  readCandidateRow,
} from './contract-sample.fixture.ts';
import { describeVisibility } from './visibility-contract.harness.ts';

const [N, Q] = [101, 29];

function reorderQueries(queries: QueryBatch, order: readonly number[]): QueryBatch {
  return {
    ids: order.map((query) => queries.ids![query]!),
    texts: order.map((query) => queries.texts[query]!),
    vectors: Float32Array.from(
      order.flatMap((query) => [...viewRow(queries.vectors, queries.vectors.length / queries.cutoffs.length, query)]),
    ),
    cutoffs: Int32Array.from(order, (query) => queries.cutoffs[query]!),
  };
}

/**
 * The contract of every candidate index, as tests. Every turn of the sample has a word and a direction in common with every query, so an index that sees c turns finds
 * min(k, c). Calls {@link describeVisibility} too.
 */
export function describeCandidateIndex(name: string, make: (corpus: ContractCorpus) => CandidateIndex): void {
  describe(`candidate index contract: ${name}`, () => {
    const corpus = drawContractCorpus(N);
    const queries = drawContractQueries(Q, N);

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
        vectors: corpus.vectors.slice(0, cutoff * corpus.dimension),
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
  describeVisibility(name, make);
}
