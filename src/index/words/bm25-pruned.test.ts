import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { createTieOrder } from '../../model/turns/tie-rule.ts';
import { allocateCandidates } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import {
  BM25_DEFAULTS,
  BM25_VARIANTS,
  Bm25Index,
  type Bm25Options,
  type Bm25VariantName,
  TermPostings,
} from './bm25.ts';
import { PrunedSearch } from './bm25-pruned.ts';

const N = 3000;
const stream = createRandom(11, 'bm25-pruned.test');
/** Few words that most turns hold, and many that few do. */
const drawWord = () => `w${Math.floor(900 * stream.uniform() ** 4)}`;
const drawText = (most: number) => Array.from({ length: 1 + stream.integer(most) }, drawWord).join(' ');
const drawn = Array.from({ length: N }, (_, i) => drawText(i % 97 === 0 ? 300 : 12));
/** Every third turn says what one before it says, so that scores are equal. */
const texts = drawn.map((text, i) => (i % 3 === 2 ? drawn[stream.integer(i)]! : text));
const ids = texts.map((_, i) => `t${(i * 7919) % N}`);
const Q = 60;
const queries = {
  texts: Array.from({ length: Q }, (_, i) => (i === 7 ? 'nothing known' : drawText(9))),
  vectors: new Float32Array(0),
  cutoffs: Int32Array.from({ length: Q }, (_, i) => (i % 4 === 0 ? N : 995 + stream.integer(N - 995))),
};

function searchPruned(postings: TermPostings, options: Bm25Options, k: number) {
  const { idf, saturate } = BM25_VARIANTS[options.variant];
  const pruned = new PrunedSearch(postings, { idf, saturate: (tf, ratio) => saturate(tf, ratio, options) });
  const candidates = allocateCandidates(Q, k);
  const top = new TopSelection(k, createTieOrder(ids));
  const refused: number[] = [];
  for (let query = 0; query < Q; query++) {
    if (!pruned.offerBest(queries, query, k, top)) refused.push(query);
    top.drainTo(candidates, query);
  }
  return { candidates, refused };
}

const PARAMETERS = [
  { k1: 1.2, b: 0.75 },
  { k1: 0, b: 1 },
  { k1: 3, b: 0 },
  { k1: 0.4, b: 1 },
  { k1: 1e45, b: 0.5 }, // scores below the numbers of float32
];

describe.each(Object.keys(BM25_VARIANTS) as Bm25VariantName[])('%s', (variant) => {
  test.each(PARAMETERS)('has the bits of a full search: %j', async (parameters) => {
    const options = { ...BM25_DEFAULTS, ...parameters, variant };
    const postings = new TermPostings(texts, createTokeniser(options));
    const index = new Bm25Index(ids, texts, options);
    for (const k of [1, 7, 50, N]) {
      const full = await index.search(queries, k);
      const { candidates, refused } = searchPruned(postings, options, k);
      expect(refused).toEqual([...queries.cutoffs.keys()].filter((query) => queries.cutoffs[query]! < 1000));
      for (const query of refused) {
        candidates.positions.set(full.positions.subarray(query * k, (query + 1) * k), query * k);
        candidates.scores.set(full.scores.subarray(query * k, (query + 1) * k), query * k);
      }
      expect(candidates.positions).toEqual(full.positions);
      expect(candidates.scores).toEqual(full.scores);
    }
  });
});

test('few of the turns that share a word with a query are scored exactly', () => {
  const { idf, saturate } = BM25_VARIANTS.lucene;
  let exact = 0;
  const scoring = { idf, saturate: (tf: number, ratio: number) => saturate(tf, ratio, BM25_DEFAULTS) };
  const postings = new TermPostings(texts, createTokeniser(BM25_DEFAULTS));
  const pruned = new PrunedSearch(postings, scoring);
  class CountedSelection extends TopSelection {
    override offer(position: number, score: number): void {
      exact++;
      super.offer(position, score);
    }
  }
  const top = new CountedSelection(5, createTieOrder(ids));
  const candidates = allocateCandidates(1, 5);
  let sharing = 0;
  for (const [query, cutoff] of queries.cutoffs.entries()) {
    if (!pruned.offerBest(queries, query, 5, top)) continue;
    top.drainTo(candidates, 0);
    const words = [...postings.countQueryTerms(queries.texts[query]!).keys()];
    const held = words.flatMap((word) => postings.listPostingsBefore(word, cutoff));
    sharing += new Set(held.flatMap(({ positions }) => [...positions])).size;
  }
  expect(exact).toBeGreaterThan(0);
  expect(exact).toBeLessThan(sharing / 20);
});

test('turns that came later are found too', () => {
  const tokenise = createTokeniser(BM25_DEFAULTS);
  const grown = new TermPostings(texts.slice(0, 1700), tokenise);
  grown.append(texts.slice(1700));
  const whole = new TermPostings(texts, tokenise);
  expect(searchPruned(grown, BM25_DEFAULTS, 10)).toEqual(searchPruned(whole, BM25_DEFAULTS, 10));
});

test('an index of many turns gives a batch of queries what it gives each of them', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => texts[i % N]!);
  const index = new Bm25Index(
    many.map((_, i) => `m${i}`),
    many,
  );
  const batch = { ...queries, cutoffs: queries.cutoffs.map((cutoff, i) => (i % 5 === 0 ? 10_000 : 3 * cutoff)) };
  const together = await index.search(batch, 20);
  for (let query = 0; query < Q; query++) {
    const alone = { ...batch, texts: [batch.texts[query]!], cutoffs: batch.cutoffs.slice(query, query + 1) };
    const { positions, scores } = await index.search(alone, 20);
    expect(together.positions.subarray(query * 20, (query + 1) * 20)).toEqual(positions);
    expect(together.scores.subarray(query * 20, (query + 1) * 20)).toEqual(scores);
  }
});
