import { expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { TermPostings } from '../../../index/words/term-postings.ts';
import { chooseFeedbackTerms } from './feedback.ts';

const LETTERS = 'abcdefghijklmnopqrstuvw'.split('');
const splitIntoWords = (text: string) => text.split(' ').filter((word) => word !== '');
const computeRarity = (count: number, frequency: number) => Math.log((count + 1) / frequency);

/** Scores and the texts that have them; some texts are empty, some scores equal, some not above 0. */
function sample(seed: number, size: number) {
  const source = createRandom(seed, 'feedback');
  const texts = Array.from({ length: size }, () =>
    Array.from({ length: source.integer(11) }, () => LETTERS[source.integer(LETTERS.length)]).join(' '),
  );
  return { texts, scores: Float64Array.from(texts, () => source.integer(7) - 1) };
}

/** Score x rarity / length of each term of the five best turns, and the twelve that sum to most. */
function computeExpectedTerms(texts: readonly string[], scores: Float64Array): string[] {
  const past = texts.slice(0, scores.length);
  const best = [...past.keys()].filter((turn) => (scores[turn] as number) > 0);
  best.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  const worth = new Map<string, number>();
  for (const turn of best.slice(0, 5)) {
    const words = splitIntoWords(past[turn] as string);
    for (const word of new Set(words)) {
      const frequency = past.filter((text) => splitIntoWords(text).includes(word)).length;
      const share = ((scores[turn] as number) / words.length) * computeRarity(past.length, frequency);
      worth.set(word, (worth.get(word) ?? 0) + share);
    }
  }
  const sorted = [...worth].sort(([a, x], [b, y]) => (Math.abs(x - y) > 1e-12 ? y - x : a < b ? -1 : 1));
  return sorted.slice(0, 12).map(([word]) => word);
}

test.each([1, 2, 3, 5, 7])('takes what the best turns before the cutoff have in common: sample %i', (seed) => {
  const { texts, scores } = sample(seed, 37);
  const postings = new TermPostings(texts, splitIntoWords);
  for (const cutoff of [37, 23, 11, 3, 1, 0]) {
    const found = chooseFeedbackTerms(scores.subarray(0, cutoff), postings, computeRarity);
    expect([...found.keys()]).toEqual(computeExpectedTerms(texts, scores.subarray(0, cutoff)));
    expect([...found.values()].every((times) => times === 1)).toBe(true);
  }
});

test('takes nothing where nothing was found', () => {
  const postings = new TermPostings(['soup', 'bread'], splitIntoWords);
  expect(chooseFeedbackTerms(new Float64Array(2), postings, computeRarity).size).toBe(0);
});
