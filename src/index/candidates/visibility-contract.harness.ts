import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { once } from '../../core/values/once.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import {
  type ContractCorpus,
  drawContractCorpus,
  drawContractQueries,
  readCandidateRow,
} from './contract-sample.fixture.ts';

const [N, Q, K] = [1009, 23, 7];
/** Shares of the turns that a list holds. */
const SHARES = [0.001, 0.01, 0.1, 0.5, 0.9];

/** An index over the sample, or over a corpus that holds the sample: it answers the queries of {@link drawContractQueries} alone. */
type MakeIndex = (corpus: ContractCorpus, queries: QueryBatch) => CandidateIndex | Promise<CandidateIndex>;

/** Lists of a share of the turns, never empty; queries share three of them, and every fifth has none. */
function drawVisibleLists(share: number): (Int32Array | null)[] {
  const lists = ['a', 'b', 'c'].map((name) => {
    const order = createRandom(11, `${name} ${share}`).shuffle([...Array(N).keys()]);
    return Int32Array.from(order.slice(0, Math.max(1, Math.round(share * N)))).sort();
  });
  return Array.from({ length: Q }, (_, query) => (query % 5 === 4 ? null : (lists[query % 3] as Int32Array)));
}

function listSeenBefore(list: Int32Array | null, cutoff: number): Set<number> {
  return new Set([...(list ?? Array(N).keys())].filter((position) => position < cutoff));
}

/**
 * The contract of lists of visible turns, as tests, for an index that finds every turn it may, if k is large enough.
 *
 * @param tolerance of the score at a place; an approximate index may have the next best turn there.
 */
export function describeVisibility(name: string, make: MakeIndex, tolerance = 1e-5): void {
  describe(`visibility contract: ${name}`, () => {
    const corpus = drawContractCorpus(N);
    const queries = drawContractQueries(Q, N);

    async function searchOnce(batch: QueryBatch, k: number): Promise<Candidates> {
      const index = await make(corpus, queries);
      try {
        return await index.search(batch, k);
      } finally {
        index.dispose();
      }
    }

    const searchAll = once(() => searchOnce(queries, N));

    test.each(SHARES)(
      'with %f of the turns visible, it finds all it may, up to k, in the order without lists',
      async (share) => {
        const visible = drawVisibleLists(share);
        const candidates = await searchOnce({ ...queries, visible }, K);
        const all = await searchAll();
        for (const [query, cutoff] of queries.cutoffs.entries()) {
          const seen = listSeenBefore(visible[query] as Int32Array | null, cutoff);
          const { positions, scores } = readCandidateRow(candidates, query);
          const found = positions.filter((position) => position >= 0);
          expect(found.length, `query ${query}`).toBe(Math.min(K, seen.size));
          expect(new Set(found).size).toBe(found.length);
          expect(found.filter((position) => !seen.has(position))).toEqual([]);
          expect(positions.slice(found.length)).toEqual(Array(K - found.length).fill(-1));
          expect(scores.slice(found.length)).toEqual(Array(K - found.length).fill(0));
          for (let i = 1; i < found.length; i++) {
            const [before, after] = [corpus.ids[found[i - 1]!]!, corpus.ids[found[i]!]!];
            expect(scores[i - 1]! > scores[i]! || (scores[i - 1] === scores[i] && before > after)).toBe(true);
          }
          const whole = readCandidateRow(all, query);
          const best = [...whole.positions.keys()].filter((i) => seen.has(whole.positions[i]!)).slice(0, K);
          for (const [i, place] of best.entries()) {
            if (name === 'newest')
              expect(positions[i]).toBe(whole.positions[place]); // its scores are ranks among what is visible
            else if (name !== 'graph')
              // whose walks do not pass through what is hidden
              expect(Math.abs(scores[i]! - whole.scores[place]!), `query ${query}, place ${i}`).toBeLessThan(tolerance);
          }
        }
      },
    );

    test('a list of all turns changes nothing, and neither does a copy of a list', async () => {
      const every = Int32Array.from({ length: N }, (_, position) => position);
      const plain = await searchOnce(queries, K);
      expect(await searchOnce({ ...queries, visible: Array(Q).fill(every) }, K)).toEqual(plain);
      expect(await searchOnce({ ...queries, visible: Array(Q).fill(null) }, K)).toEqual(plain);
      const visible = drawVisibleLists(0.1);
      const copied = visible.map((list) => list?.slice() ?? null);
      const [shared, apart] = [
        await searchOnce({ ...queries, visible }, K),
        await searchOnce({ ...queries, visible: copied }, K),
      ];
      expect(apart.positions).toEqual(shared.positions);
    });

    test('what is hidden from every query is found by none, and nothing visible is nothing found', async () => {
      const nothing = await searchOnce({ ...queries, visible: Array(Q).fill(new Int32Array(0)) }, K);
      expect(nothing.positions.every((position) => position === -1)).toBe(true);
    });

    test('a list that is not ascending, repeats a turn or names an unknown one is refused', async () => {
      const searchList = (...list: number[]) =>
        searchOnce({ ...queries, visible: Array(Q).fill(Int32Array.from(list)) }, K);
      await expect(searchList(3, 1)).rejects.toThrow(ValidationError);
      await expect(searchList(3, 1)).rejects.toThrow(/^visible turns of query 0 do not ascend: 1 after 3; sort them/);
      await expect(searchList(3, 3)).rejects.toThrow(/^visible turns of query 0 do not ascend: 3 after 3; sort them/);
      await expect(searchList(3, N)).rejects.toThrow(/^visible turn of query 0 is outside the corpus of 1009: 1009; /);
      await expect(searchList(-1)).rejects.toThrow(/^visible turn of query 0 is outside the corpus of 1009: -1; /);
      await expect(searchOnce({ ...queries, visible: [null] }, K)).rejects.toThrow(DimensionMismatchError);
    });
  });
}
