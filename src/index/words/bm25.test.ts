import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { expectEventsLetIn } from '../../core/terminal/slow-progress.harness.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { BM25_DEFAULTS, BM25_VARIANTS, Bm25Index, type Bm25VariantName } from './bm25.ts';

describeCandidateIndex('bm25', ({ ids, texts }) => new Bm25Index(ids, texts));

const [N, Q] = [47, 19];

function drawBm25Texts(count: number, name: string): string[] {
  const stream = createRandom(3, name);
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + stream.integer(29) }, () => `w${Math.floor(41 * stream.uniform() ** 3)}`).join(' '),
  );
}

const texts = drawBm25Texts(N, 'turns');
const ids = texts.map((_, i) => `t${i}`);
const queries = {
  texts: drawBm25Texts(Q, 'queries'),
  vectors: new Float32Array(0),
  cutoffs: Int32Array.from({ length: Q }, (_, query) => (query * 31) % (N + 1)),
};

/** The score of one turn by the formulas as the paper has them, over the turns before the cutoff only. */
function computeBm25ByFormula(
  variant: Bm25VariantName,
  query: string,
  position: number,
  cutoff: number,
  k1: number,
  b: number,
): number {
  const earlier = texts.slice(0, cutoff).map((text) => text.split(' '));
  const turn = earlier[position]!;
  const average = earlier.reduce((sum, words) => sum + words.length, 0) / cutoff;
  const long = 1 - b + (b * turn.length) / average;
  let score = 0;
  for (const word of query.split(' ')) {
    const df = earlier.filter((words) => words.includes(word)).length;
    const tf = turn.filter((other) => other === word).length;
    if (tf === 0) continue;
    if (variant === 'robertson')
      score += (Math.max(0, Math.log((cutoff - df + 0.5) / (df + 0.5))) * tf) / (k1 * long + tf);
    if (variant === 'lucene') score += (Math.log(1 + (cutoff - df + 0.5) / (df + 0.5)) * tf) / (k1 * long + tf);
    if (variant === 'atire') score += (Math.log(cutoff / df) * (k1 + 1) * tf) / (k1 * long + tf);
    if (variant === 'bm25+') score += Math.log((cutoff + 1) / df) * (((k1 + 1) * tf) / (k1 * long + tf) + 1);
    if (variant === 'bm25l')
      score += (Math.log((cutoff + 1) / (df + 0.5)) * (k1 + 1) * (tf / long + 0.5)) / (k1 + tf / long + 0.5);
  }
  return score;
}

describe.each(Object.keys(BM25_VARIANTS) as Bm25VariantName[])('bm25 variant %s', (variant) => {
  const [k1, b] = [0.9, 0.4];
  const index = new Bm25Index(ids, texts, { ...BM25_DEFAULTS, variant, k1, b });

  test('finds every turn with a score above 0, and its score is the formula as of the cutoff', async () => {
    const { positions, scores } = await index.search(queries, N);
    for (const [query, cutoff] of queries.cutoffs.entries()) {
      const expected = texts
        .slice(0, cutoff)
        .map((_, position) => computeBm25ByFormula(variant, queries.texts[query]!, position, cutoff, k1, b));
      const found = [...positions.subarray(query * N, (query + 1) * N)].filter((position) => position >= 0);
      expect(found.length).toBe(expected.filter((score) => score > 1e-12).length);
      for (const [i, position] of found.entries()) {
        const score = expected[position]!;
        expect(Math.abs(scores[query * N + i]! - score)).toBeLessThan(1e-6 * score);
      }
    }
  });

  test('scores given pairs in the same way, 0 for an empty place', async () => {
    const width = 5;
    const positions = Int32Array.from({ length: Q * width }, (_, i) => {
      const cutoff = queries.cutoffs[Math.floor(i / width)]!;
      return i % width === 3 || cutoff === 0 ? -1 : (i * 17) % cutoff;
    });
    const scores = await index.scorePairs(queries, positions, width);
    for (const [slot, position] of positions.entries()) {
      const query = Math.floor(slot / width);
      const expected =
        position < 0
          ? 0
          : computeBm25ByFormula(variant, queries.texts[query]!, position, queries.cutoffs[query]!, k1, b);
      expect(scores[slot]).toBeCloseTo(expected, 5);
    }
  });
});

describe('bm25', () => {
  test('turns without words, and words without turns, do no harm', async () => {
    const index = new Bm25Index(['a', 'b', 'c'], ['--', 'apple', '…']);
    const batch = {
      texts: ['apple pear', '!', 'apple'],
      vectors: new Float32Array(0),
      cutoffs: Int32Array.of(3, 3, 1),
    };
    const { positions, scores } = await index.search(batch, 2);
    expect([...positions]).toEqual([1, -1, -1, -1, -1, -1]);
    expect([...scores].every(Number.isFinite)).toBe(true);
  });

  test('stems join forms of a word when asked', async () => {
    const index = new Bm25Index(['a', 'b'], ['connecting', 'apple'], { ...BM25_DEFAULTS, stem: true });
    const batch = { texts: ['connections'], vectors: new Float32Array(0), cutoffs: Int32Array.of(2) };
    expect((await index.search(batch, 1)).positions[0]).toBe(0);
  });

  test('a pair that is not strictly earlier is refused', async () => {
    const index = new Bm25Index(ids, texts);
    const batch = { texts: ['w1'], vectors: new Float32Array(0), cutoffs: Int32Array.of(7) };
    await expect(index.scorePairs(batch, Int32Array.of(6, 7), 2)).rejects.toThrow(ValidationError);
    await expect(index.scorePairs(batch, Int32Array.of(6, 5, 4), 2)).rejects.toThrow(DimensionMismatchError);
  });
});

test('a search and the scoring of pairs let events in', async () => {
  const index = new Bm25Index(ids, texts);
  await expectEventsLetIn((slowly) => index.search(queries, 5, slowly));
  const nothing = new Int32Array(Q).fill(-1);
  await expectEventsLetIn((slowly) => index.scorePairs(queries, nothing, 1, slowly));
});
