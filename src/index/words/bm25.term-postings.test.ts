import { describe, expect, test } from 'vitest';
import { TermPostings } from './bm25.ts';

const TEXTS = ['bread and soup', 'soup', '', 'the bread is warm bread', 'soup soup soup', 'train', 'bread'];
const splitIntoWords = (text: string) => text.split(' ').filter((word) => word !== '');
const postings = new TermPostings(TEXTS, splitIntoWords);
const listPostings = (of: TermPostings, word: string, cutoff: number) =>
  of
    .listPostingsBefore(word, cutoff)
    .flatMap(({ positions, counts }) => Array.from(positions, (p, i) => [p, counts[i]]));
const words = [...new Set(TEXTS.flatMap(splitIntoWords)), 'nobody'];

test('lengths are those of the turns, and of all before each', () => {
  const lengths = TEXTS.map((text) => splitIntoWords(text).length);
  expect(postings.size).toBe(7);
  expect([...postings.lengths]).toEqual(lengths);
  for (let cutoff = 0; cutoff <= 7; cutoff++) {
    const before = lengths.slice(0, cutoff).reduce((sum, length) => sum + length, 0);
    expect(postings.lengthBefore[cutoff]).toBe(before);
  }
});

describe.each(words)('%s', (word) => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7])('is held by turns before %i', (cutoff) => {
    const counts = TEXTS.slice(0, cutoff).map((text) => splitIntoWords(text).filter((other) => other === word).length);
    const holding = [...counts.keys()].filter((turn) => (counts[turn] as number) > 0);
    expect(postings.countTurnsWith(word, cutoff)).toBe(holding.length);
    expect(listPostings(postings, word, cutoff)).toEqual(holding.map((turn) => [turn, counts[turn]]));
  });
});

test('terms of a text and of a turn are in the order of their first use', () => {
  expect([...postings.countQueryTerms('soup bread soup moon')]).toEqual([
    ['soup', 2],
    ['bread', 1],
    ['moon', 1],
  ]);
  for (const [position, text] of TEXTS.entries())
    expect(postings.listTurnTerms(position)).toEqual([...new Set(splitIntoWords(text))]);
});

test('of no turns there is nothing', () => {
  const nothing = new TermPostings([], splitIntoWords);
  expect(nothing.size).toBe(0);
  expect(nothing.listPostingsBefore('soup', 0)).toEqual([]);
  expect([...nothing.lengthBefore]).toEqual([0]);
});

test.each([0, 1, 3, 6, 7])('turns that come after the first %i are as those that were there', (count) => {
  const grown = new TermPostings(TEXTS.slice(0, count), splitIntoWords);
  for (let position = count; position < TEXTS.length; position++) grown.append(TEXTS.slice(position, position + 1));
  expect([grown.size, [...grown.lengths], [...grown.lengthBefore]]).toEqual([
    ...[7, [...postings.lengths], [...postings.lengthBefore]],
  ]);
  for (const position of TEXTS.keys()) expect(grown.listTurnTerms(position)).toEqual(postings.listTurnTerms(position));
  for (const word of words)
    for (let cutoff = 0; cutoff <= 7; cutoff++) {
      expect(listPostings(grown, word, cutoff)).toEqual(listPostings(postings, word, cutoff));
      expect(grown.countTurnsWith(word, cutoff)).toBe(postings.countTurnsWith(word, cutoff));
    }
});
