import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { QueryBatch } from '../../model/candidates.ts';
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

function createPruned(postings: TermPostings, options: Bm25Options): PrunedSearch {
  const { idf, saturate } = BM25_VARIANTS[options.variant];
  return new PrunedSearch(postings, { idf, saturate: (tf, ratio) => saturate(tf, ratio, options) });
}

const searchPruned = (postings: TermPostings, options: Bm25Options, k: number, batch: QueryBatch = queries) =>
  createPruned(postings, options).search(batch, k, createTieOrder(ids), ignoreProgress);

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
    for (const k of [1, 7, 50, N])
      expect(await searchPruned(postings, options, k)).toEqual(await index.search(queries, k));
  });
});

const INTERRUPTION = new Error('interrupted');
const interrupt = () => {
  throw INTERRUPTION;
};

/** Lists of few turns, of half of them, of none, and no list. */
const LISTS = [0.01, 0.5, 0, null].map((share) =>
  share === null ? null : Int32Array.from([...texts.keys()].filter(() => stream.uniform() < share)),
);

test.each([1, 7, 50])('finds the %i best turns that each query may see', async (k) => {
  const batch = { ...queries, visible: queries.texts.map((_, query) => LISTS[query % LISTS.length]!) };
  const pruned = createPruned(new TermPostings(texts, createTokeniser(BM25_DEFAULTS)), BM25_DEFAULTS);
  const full = await new Bm25Index(ids, texts).search(batch, k);
  for (let times = 0; times < 2; times++)
    expect(await pruned.search(batch, k, createTieOrder(ids), ignoreProgress)).toEqual(full);
});

test.each([
  ['that ended', ignoreProgress],
  ['that was interrupted', () => ({ update: interrupt, finish: () => {} })],
])('a list that changes after a search %s is read again', async (_, progress) => {
  const list = Int32Array.from([...texts.keys()].filter((position) => position % 2 === 0));
  const batch = { ...queries, visible: queries.texts.map(() => list) };
  const pruned = createPruned(new TermPostings(texts, createTokeniser(BM25_DEFAULTS)), BM25_DEFAULTS);
  await pruned.search(batch, 9, createTieOrder(ids), progress).catch((error) => expect(error).toBe(INTERRUPTION));
  list.forEach((position, i) => {
    list[i] = position + 1;
  });
  const full = await new Bm25Index(ids, texts).search(batch, 9);
  expect(await pruned.search(batch, 9, createTieOrder(ids), ignoreProgress)).toEqual(full);
});

test('has the bits of a full search where texts have more lengths than are distinguished', async () => {
  const many = Array.from(
    { length: 9500 },
    (_, i) => `${'a '.repeat(i % 97)}${'b '.repeat(i % 101)}${i % 7 === 0 ? 'c' : 'd'}`,
  );
  const named = many.map((_, i) => `t${i}`);
  const batch = {
    texts: ['b c', 'd a', 'a c'],
    vectors: new Float32Array(0),
    cutoffs: Int32Array.of(9500, 9001, 9400),
  };
  const pruned = createPruned(new TermPostings(many, createTokeniser(BM25_DEFAULTS)), BM25_DEFAULTS);
  const full = await new Bm25Index(named, many).search(batch, 40);
  expect(await pruned.search(batch, 40, createTieOrder(named), ignoreProgress)).toEqual(full);
});

test.each([3, 300])('the best %i turns of a query of 270 words that many turns hold', async (k) => {
  const common = Array.from({ length: N }, () =>
    Array.from({ length: 1 + stream.integer(150) }, () => `v${stream.integer(270)}`).join(' '),
  );
  const batch = {
    texts: [Array.from({ length: 270 }, (_, i) => `v${i} `.repeat(1 + (i % 3))).join(''), 'v3 v5', 'v7'],
    vectors: new Float32Array(0),
    cutoffs: Int32Array.of(N, 1501, N),
  };
  const full = await new Bm25Index(ids, common).search(batch, k);
  const postings = new TermPostings(common, createTokeniser(BM25_DEFAULTS));
  expect(await searchPruned(postings, BM25_DEFAULTS, k, batch)).toEqual(full);
});

test('few of the turns that share a word with a query are offered', () => {
  let exact = 0;
  const postings = new TermPostings(texts, createTokeniser(BM25_DEFAULTS));
  const pruned = createPruned(postings, BM25_DEFAULTS);
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
    pruned.offerBest(queries, query, 5, top);
    top.drainTo(candidates, 0);
    const words = [...postings.countQueryTerms(queries.texts[query]!).keys()];
    const held = words.flatMap((word) => postings.listPostingsBefore(word, cutoff));
    sharing += new Set(held.flatMap(({ positions }) => [...positions])).size;
  }
  expect(exact).toBeGreaterThan(0);
  expect(exact).toBeLessThan(sharing / 20);
});

test.each([0, 20, 1700])('turns that came after the first %i are found too', async (count) => {
  const tokenise = createTokeniser(BM25_DEFAULTS);
  const grown = new TermPostings(texts.slice(0, count), tokenise);
  const pruned = createPruned(grown, BM25_DEFAULTS);
  for (const size of [count + 31, 1800, N]) {
    grown.append(texts.slice(grown.size, size));
    const batch = { ...queries, cutoffs: queries.cutoffs.map((cutoff) => Math.min(cutoff, size)) };
    const whole = new TermPostings(texts.slice(0, size), tokenise);
    const found = await pruned.search(batch, 10, createTieOrder(ids), ignoreProgress);
    expect(found).toEqual(await searchPruned(whole, BM25_DEFAULTS, 10, batch));
  }
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
