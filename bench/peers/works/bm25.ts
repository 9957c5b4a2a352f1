import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, type Random } from '../../../src/core/numbers/random.ts';
import { once } from '../../../src/core/values/once.ts';
import { BM25_DEFAULTS, Bm25Index } from '../../../src/index/words/bm25.ts';
import type { QueryBatch } from '../../../src/model/candidates.ts';
import { compareRankings, listRankings, type PeerSize, type WorkGroup } from '../work.ts';

const SIZES: Readonly<Record<PeerSize, { readonly texts: number; readonly queries: number }>> = {
  small: { texts: 10_000, queries: 200 },
  published: { texts: 50_000, queries: 1000 },
};
/** The texts of an index that is searched after all others. */
const MANY: Readonly<Record<PeerSize, number>> = { small: 12_000, published: 500_000 };
const VOCABULARY = 200_000;
/** The word of a rank is as frequent as 1 / (rank + shift) ** exponent. */
const ZIPF = { shift: 2.7, exponent: 1.05 };
/** The logarithm of a text's length in words is normal. */
const LENGTH = { mean: 3.4, deviation: 0.7, least: 3 };
/** Words of a query, drawn from a text: from, to. */
const QUERY_WORDS = [4, 12] as const;
const DEPTHS = [10, 100];
/** An index that is new is asked once: what the first search makes of it counts. */
const FROM_TEXTS = `bm25-texts/k${DEPTHS[0]}`;
/** Variants of which bm25s has the same formula; its bm25l and bm25+ also score the words that a text lacks. */
const VARIANTS = ['robertson', 'atire'] as const;
const OF_VARIANTS = VARIANTS.map((variant) => `bm25-search/${variant}/k${DEPTHS[1]}`);
/** A list of this fraction of the texts, 1 in 3, is all that a query may see. */
const VISIBLE = 3;
const OF_LIST = `bm25-search/visible/k${DEPTHS[1]}`;
const OF_MANY = DEPTHS.map((k) => `bm25-search/many/k${k}`);
/** Queries whose rankings stand for an index. */
const ASKED_OF_INDEX = 20;
/** Scores are float32 sums of some ten terms. */
const TOLERANCE = 1e-5;

/** Lengths that tantivy keeps as they are; it rounds others down, which would change its scores. */
const KEPT_LENGTHS: readonly number[] = [
  ...Array.from({ length: 41 }, (_, i) => i),
  ...[42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96, 104, 112, 120, 128, 136, 144, 152],
  ...[168, 184, 200, 216, 232, 248, 264, 280],
];

function drawLength(stream: Random): number {
  const drawn = Math.exp(LENGTH.mean + LENGTH.deviation * stream.drawNormal());
  return KEPT_LENGTHS.findLast((length) => length <= Math.max(LENGTH.least, drawn))!;
}

/** Draws words, frequent ones more often. */
function createWordDraw(stream: Random): () => string {
  const cumulative = new Float64Array(VOCABULARY);
  let sum = 0;
  for (let rank = 0; rank < VOCABULARY; rank++) {
    sum += 1 / (rank + 1 + ZIPF.shift) ** ZIPF.exponent;
    cumulative[rank] = sum;
  }
  return () => {
    const drawn = sum * stream.uniform();
    let [low, high] = [0, VOCABULARY - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle]! > drawn) high = middle;
      else low = middle + 1;
    }
    return `w${low}`;
  };
}

function writeTexts(folder: string, size: PeerSize, seed: number): void {
  const stream = createRandom(seed, 'bm25 workload');
  const drawWord = createWordDraw(stream);
  const drawText = () => Array.from({ length: drawLength(stream) }, drawWord).join(' ');
  const texts = Array.from({ length: SIZES[size].texts }, drawText);
  const queries = Array.from({ length: SIZES[size].queries }, () => {
    const words = [...new Set(texts[stream.integer(texts.length)]!.split(' '))];
    const [least, most] = QUERY_WORDS;
    return stream
      .shuffle(words)
      .slice(0, least + stream.integer(most - least + 1))
      .join(' ');
  });
  writeFileSync(join(folder, 'texts.txt'), texts.join('\n'));
  writeFileSync(join(folder, 'queries.txt'), queries.join('\n'));
  writeFileSync(join(folder, 'many.txt'), Array.from({ length: MANY[size] }, drawText).join('\n'));
}

const readLines = (folder: string, file: string) => readFileSync(join(folder, file), 'utf8').split('\n');

const nameTexts = (texts: readonly string[]) => texts.map((_, i) => `t${String(i).padStart(8, '0')}`);

const PLAIN = ['bm25-index', FROM_TEXTS, ...DEPTHS.map((k) => `bm25-search/k${k}`)];

/** Indexing texts for BM25 as Lucene writes it, and the best texts of queries. */
export const bm25: WorkGroup = {
  listWorks: () => [...PLAIN, ...OF_VARIANTS, OF_LIST, ...OF_MANY],
  peers: [
    { name: 'bm25s', requirements: 'bm25s-requirements.txt' },
    { name: 'tantivy', requirements: 'tantivy-requirements.txt', works: [...PLAIN, ...OF_MANY] },
  ],
  describe: (size) =>
    `${SIZES[size].texts.toLocaleString('en')} texts of ${LENGTH.least} to ${KEPT_LENGTHS.at(-1)} words, ${SIZES[size].queries} queries of ${QUERY_WORDS.join(' to ')} words; many: ${MANY[size].toLocaleString('en')} texts`,
  prepare: writeTexts,
  open: async (folder) => {
    const texts = readLines(folder, 'texts.txt');
    const queries = readLines(folder, 'queries.txt');
    const ids = nameTexts(texts);
    let index: Bm25Index;
    const createBatch = (count: number, seen = texts.length): QueryBatch => {
      const cutoffs = new Int32Array(count).fill(seen);
      return { texts: queries.slice(0, count), cutoffs, vectors: new Float32Array(0) };
    };
    const search = (count: number, k: number) => index.search(createBatch(count), k);
    const rank = (find: () => ReturnType<Bm25Index['search']>) => async () => {
      const found = await find();
      return () => listRankings(found);
    };
    const works = DEPTHS.map((k) => [`bm25-search/k${k}`, rank(() => search(queries.length, k))] as const);
    const ofVariants = VARIANTS.map((variant, i) => {
      const open = once(() => new Bm25Index(ids, texts, { ...BM25_DEFAULTS, variant }));
      return [OF_VARIANTS[i]!, rank(() => open().search(createBatch(queries.length), DEPTHS[1]!))] as const;
    });
    const openMany = once(() => {
      const many = readLines(folder, 'many.txt');
      const [indexed, batch] = [new Bm25Index(nameTexts(many), many), createBatch(queries.length, many.length)];
      return (k: number) => indexed.search(batch, k);
    });
    const ofMany = DEPTHS.map((k, i) => [OF_MANY[i]!, rank(() => openMany()(k))] as const);
    const list = Int32Array.from({ length: Math.ceil(texts.length / VISIBLE) }, (_, i) => VISIBLE * i);
    const visible = queries.map(() => list);
    return {
      'bm25-index': () => {
        index = new Bm25Index(ids, texts);
        return async () => listRankings(await search(ASKED_OF_INDEX, DEPTHS[0]!));
      },
      [FROM_TEXTS]: rank(() => {
        index = new Bm25Index(ids, texts);
        return search(queries.length, DEPTHS[0]!);
      }),
      ...Object.fromEntries([...works, ...ofVariants, ...ofMany]),
      [OF_LIST]: rank(() => index.search({ ...createBatch(queries.length), visible }, DEPTHS[1]!)),
    };
  },
  compare: (work, ours, theirs) =>
    compareRankings(ours, theirs, work === 'bm25-index' ? DEPTHS[0]! : Number(work.split('/k')[1]), TOLERANCE),
};
