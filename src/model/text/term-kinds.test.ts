import { expect, test } from 'vitest';
import { TERM_KINDS, type TermKind } from './term-kinds.ts';

const plain = { dropStopWords: false, stem: false };

test.each<[TermKind, string, string[]]>([
  ['words', 'Bread, the soup.', ['bread', 'the', 'soup']],
  ['words', '', []],
  ['pairs', 'Bread, the soup.', ['bread the', 'the soup']],
  ['pairs', 'bread', []],
  ['characters', 'Soup of o', ['_sou', 'soup', 'oup_', '_of_', '_o_']],
  // A letter beyond the basic plane is one character.
  ['characters', '𐐨𐐨𐐨', ['_𐐨𐐨𐐨', '𐐨𐐨𐐨_']],
  ['characters', 'soup soup', ['_sou', 'soup', 'oup_', '_sou', 'soup', 'oup_']],
])('%s of %j', (kind, text, terms) => {
  expect(TERM_KINDS[kind](plain)(text)).toEqual(terms);
});

test('stop words are dropped before words are paired, and grams are of whole words', () => {
  const options = { dropStopWords: true, stem: true };
  expect(TERM_KINDS.words(options)('the trains of bakers')).toEqual(['train', 'baker']);
  expect(TERM_KINDS.pairs(options)('the trains of bakers')).toEqual(['train baker']);
  expect(TERM_KINDS.characters(options)('of trains')).toEqual(['_tra', 'trai', 'rain', 'ains', 'ins_']);
});
