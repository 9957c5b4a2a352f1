import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { BM25_DEFAULTS, BM25_VARIANTS, TermPostings } from './bm25.ts';
import { FrequentBounds } from './frequent-bounds.ts';
import { WordLists } from './word-lists.ts';

const N = 1013;
const WORDS = ['a', 'b', 'c', 'd', 'e'];
const WEIGHTS = [0.31, 2.3, 1.1, 0.07, 1.9];
const stream = createRandom(5, 'frequent-bounds.test');
const texts = Array.from({ length: N }, () => {
  const length = 1 + stream.integer(29);
  return Array.from({ length }, () => (stream.uniform() < 0.2 ? WORDS[stream.integer(5)]! : 'z')).join(' ');
});
const visible = [...texts.keys()].filter((position) => position % 3 > 0);

test.each(['lucene', 'bm25l', 'bm25+'] as const)(
  'no turn gets more from frequent words than its bound: %s',
  (variant) => {
    const { saturate } = BM25_VARIANTS[variant];
    const lists = new WordLists(new TermPostings(texts, createTokeniser(BM25_DEFAULTS)), (tf, ratio) =>
      saturate(tf, ratio, BM25_DEFAULTS),
    );
    const bounds = new FrequentBounds(lists);
    bounds.makeRoom(N);
    const found = WORDS.map((word) => lists.find(word)!);
    expect(found.every(({ dense }) => dense > 0)).toBe(true);
    const [out, marks] = [lists.memory.allocate(4 * N), lists.memory.allocate(N + 64)];
    for (const position of visible) lists.memory.uint8[marks + position] = 1;
    const lengths = texts.map((text) => text.split(' ').length);
    for (const [cutoff, place] of [
      [N, null],
      [337, null],
      [577, marks],
    ] as const) {
      const average = lengths.slice(0, cutoff).reduce((sum, length) => sum + length, 0) / cutoff;
      lists.fillShares(average);
      const words = found.map((list, i) => ({ list, weight: WEIGHTS[i]!, most: WEIGHTS[i]! * lists.findMost(list) }));
      bounds.fill(words, cutoff, place);
      const { uint8, int32 } = lists.memory;
      let [sumOfBounds, sumOfScores] = [0, 0];
      for (const [position, text] of texts.entries()) {
        const counts = WORDS.map((word) => text.split(' ').filter((other) => other === word).length);
        const share = (tf: number) => (tf === 0 ? 0 : saturate(tf, lengths[position]! / average, BM25_DEFAULTS));
        const score = counts.reduce((sum, tf, i) => sum + WEIGHTS[i]! * share(tf), 0);
        const bound = position < cutoff && (place === null || visible.includes(position)) ? score : 0;
        const own = position < cutoff ? bounds.unit * uint8[bounds.place + position]! : 0;
        expect(own === 0, `${position}`).toBe(bound === 0);
        expect(own).toBeGreaterThanOrEqual(bound);
        expect(uint8[bounds.place + position]! >= bounds.findLeast(bound) || bound === 0).toBe(true);
        [sumOfBounds, sumOfScores] = [sumOfBounds + own, sumOfScores + bound];
      }
      expect(sumOfBounds).toBeLessThan(1.15 * sumOfScores);
      const before = [...uint8.subarray(bounds.place, bounds.place + cutoff)];
      for (const least of [1, 40, 255, 256]) {
        const reached = [...before.keys()].filter((position) => before[position]! >= least);
        expect(bounds.count(least)).toBe(reached.length);
        expect(bounds.list(least, out)).toBe(reached.length);
        expect([...int32.subarray(out >> 2, (out >> 2) + reached.length)]).toEqual(reached);
      }
    }
  },
);
