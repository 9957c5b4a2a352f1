import { expect, test } from 'vitest';
import { NamedTitles, parseTitleWords } from './named-titles.ts';

test.each([
  ['Kiss (band)', ['kiss']],
  ['Kiss (band) ', ['kiss']],
  [' (Untitled)', ['untitled']],
  ['Road (old) to Rome (1960)', ['road', 'old', 'to', 'rome']],
  ['Rome (a) b)', ['rome', 'a', 'b']],
  ['Rome (a', ['rome', 'a']],
  ['It', []],
  ['1984', []],
  ['the', []],
  ['War and Peace', ['war', 'and', 'peace']],
  [Array(24).fill('war').join(' '), Array(24).fill('war')],
  [Array(25).fill('war').join(' '), []],
])('the words of the title %j', (title, words) => {
  expect(parseTitleWords(title)).toEqual(words);
});

test('a text is asked for the titles that it holds, without becoming a memory', () => {
  const titles = new NamedTitles();
  for (const title of ['War', 'War and Peace', 'War', null]) titles.add('nothing', title);
  expect(titles.find('Who wrote War and Peace?')).toEqual([[0, 2], [1]]);
  expect(titles.find('an unknown word')).toEqual([]);
  expect(titles.add('War', null)).toEqual({ names: [0, 2], namedBy: [] });
});

test('a text names by a possessive too, and memories of two texts may name each other', () => {
  const titles = new NamedTitles();
  titles.add("Schindler's List won; so did Hannibal’s film.", 'Spielberg');
  expect(titles.add("Spielberg's film", "Schindler's List")).toEqual({ names: [0], namedBy: [0] });
  expect(titles.add('nothing', 'Hannibal')).toEqual({ names: [], namedBy: [0] });
  expect(titles.find("Who made Schindler's List?")).toEqual([[1]]);
});

test('a text of one word time and again costs in proportion to its length, whatever the titles repeat', () => {
  const count = (length: number) => {
    const titles = new NamedTitles();
    const text = 'war '.repeat(length);
    titles.add('x', text);
    titles.add('x', 'war '.repeat(24));
    titles.add(text, null);
    return titles.operations;
  };
  expect(count(4000) / count(2000)).toBeLessThan(2.1);
});

test('of the texts before a title only those with both of its rarest words are read', () => {
  const titles = new NamedTitles();
  for (let i = 0; i < 40; i++) titles.add(i % 2 === 0 ? 'the road north, a dusty one' : 'no word but zama', null);
  titles.add('zama is on the road', null);
  titles.add('a road: zama', null);
  const before = titles.operations;
  expect(titles.add('x', 'Road Zama')).toEqual({ names: [], namedBy: [41] });
  const [texts, read] = [22, 5 + 3]; // that hold the rarest word, and the words of the last two texts
  expect(titles.operations - before).toBe(1 + texts + read);
});

test('a title of many spaces is read in time', () => {
  expect(parseTitleWords(`a${' '.repeat(1_000_000)}b`)).toEqual(['a', 'b']); // 20 minutes if each space was tried as the first
});
