import { describe, expect, test } from 'vitest';
import { ConfigurationError, ValidationError } from '../../core/errors/errors.ts';
import { createWordPieces } from './word-pieces.ts';

const PIECES = [
  '[PAD]',
  '[UNK]',
  '[CLS]',
  '[SEP]',
  'the',
  'ga',
  '##rden',
  '##r',
  '$',
  '.',
  ',',
  '日',
  '本',
  'e',
  '##e',
  'naive',
  '[',
  ']',
  'sep',
  '–',
  'ο',
  '##σ',
  '##ς',
];
const file = (normalizer: object | null = { type: 'BertNormalizer' }, model: object = {}) => ({
  normalizer,
  pre_tokenizer: { type: 'BertPreTokenizer' },
  model: { type: 'WordPiece', vocab: Object.fromEntries(PIECES.map((piece, id) => [piece, id])), ...model },
});
const words = createWordPieces(file(), 'tokenizer.json');
const tokenise = (text: string, own = words) => own.tokenise(text).map((id) => own.pieces[id]);

test.each([
  ['The GARDEN', ['the', 'ga', '##rden']],
  ['gar', ['ga', '##r']],
  ['the.garden,$the', ['the', '.', 'ga', '##rden', ',', '$', 'the']],
  ['the–the', ['the', '–', 'the']],
  ['日本the', ['日', '本', 'the']],
  ['naïve ÉÉ', ['naive', 'e', '##e']],
  ['ΟΣ ος', ['ο', '##σ', 'ο', '##ς']],
  ['the\0\u200B the\t\nthe\u00A0the', ['the', 'the', 'the', 'the']],
  ['gardenx bird', ['[UNK]', '[UNK]']],
  ['', []],
  [' \n', []],
])('%j is divided into the longest pieces of the vocabulary', (text, pieces) => {
  expect(tokenise(text)).toEqual(pieces);
});

test('a special piece within a text is text', () => {
  expect(tokenise('[SEP] the')).toEqual(['[', 'sep', ']', 'the']);
});

test('a word longer than the limit is unknown, and a text of long words takes linear time', () => {
  const short = createWordPieces(file(undefined, { max_input_chars_per_word: 3 }), 'tokenizer.json');
  expect(tokenise('gar garden', short)).toEqual(['ga', '##r', '[UNK]']);
  expect(tokenise(`${'e'.repeat(50_000)} the`)).toEqual(['[UNK]', 'the']);
});

test('letters keep their case and accents where the normaliser says so', () => {
  const cased = createWordPieces(file({ type: 'BertNormalizer', lowercase: false }), 'tokenizer.json');
  expect(tokenise('The naïve the', cased)).toEqual(['[UNK]', '[UNK]', 'the']);
  const plain = createWordPieces(file(null), 'tokenizer.json');
  expect(tokenise('The the', plain)).toEqual(['[UNK]', 'the']);
});

describe('a file of another kind is refused', () => {
  test.each([
    [{ model: { type: 'Unigram' } }, ConfigurationError],
    [{ pre_tokenizer: { type: 'Metaspace' } }, ConfigurationError],
    [{ normalizer: { type: 'NFC' } }, ConfigurationError],
    [{ model: { ...file().model, unk_token: '<unk>' } }, ValidationError],
  ])('%j', (change, error) => {
    expect(() => createWordPieces({ ...file(), ...change }, 'x/tokenizer.json')).toThrow(error);
    expect(() => createWordPieces({ ...file(), ...change }, 'x/tokenizer.json')).toThrow('x/tokenizer.json');
  });
});
