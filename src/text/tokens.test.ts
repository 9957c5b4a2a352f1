import { expect, test } from 'vitest';
import { createTokeniser } from './tokens.ts';

const plain = createTokeniser({ dropStopWords: false, stem: false });

test('words are lower-cased, split at punctuation, and keep inner apostrophes', () => {
  expect(plain("Don't PANIC: it's version 3.5, a follow-up!")).toEqual([
    "don't",
    'panic',
    "it's",
    'version',
    '3',
    '5',
    'a',
    'follow',
    'up',
  ]);
});

test('other scripts, ligatures and typographic apostrophes are words too', () => {
  expect(plain('Größe ﬁne don’t नमस्ते Ελλάδα')).toEqual(['größe', 'fine', "don't", 'नमस्ते', 'ελλάδα']);
});

test('a text without letters or digits has no words', () => {
  expect(plain(' -- ?! … ')).toEqual([]);
});

test('stop words are dropped when asked, contractions among them', () => {
  const tokenise = createTokeniser({ dropStopWords: true, stem: false });
  expect(tokenise("The servers don't crash and the kernels do")).toEqual(['servers', 'crash', 'kernels']);
});

test('stemming brings the forms of a word together', () => {
  const tokenise = createTokeniser({ dropStopWords: false, stem: true });
  expect(tokenise('connect connected connecting connection')).toEqual(Array(4).fill('connect'));
  expect(tokenise('the ponies')).toEqual(['the', 'poni']);
});

test('as many tokenisers can be made as there are indexes', () => {
  const make = () => createTokeniser({ dropStopWords: true, stem: true })('the trains were waiting');
  for (let i = 0; i < 31; i++) expect(make()).toEqual(['train', 'wait']);
});
