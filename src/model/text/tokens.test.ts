import { expect, test } from 'vitest';
import { createTokeniser, listSharedContentStems, replaceByBlanks } from './tokens.ts';

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

test('indexes with the same rules read a text once, until as many others were read as are kept', () => {
  const make = (stem: boolean) => createTokeniser({ dropStopWords: true, stem });
  const text = 'the trains were waiting';
  const tokens = make(true)(text);
  expect(make(true)(text)).toBe(tokens);
  expect(make(false)(text)).toEqual(['trains', 'waiting']);
  make(true)('x'.repeat(2 ** 23)); // a word, which takes as much room as many
  const again = make(true)(text);
  expect(again).not.toBe(tokens);
  expect(again).toEqual(tokens);
});

test('a list of stop words is dropped in place of the usual one', () => {
  const tokenise = createTokeniser({ dropStopWords: ['servers', "don't"], stem: false });
  expect(tokenise("The Servers don't crash")).toEqual(['the', 'crash']);
  const stemmed = createTokeniser({ dropStopWords: ['wait'], stem: true });
  expect(stemmed('wait, it was waiting')).toEqual(['it', 'was', 'wait']); // words are compared before they are stems
});

/** Words with the stems of the sample vocabulary of tartarus.org/martin/PorterStemmer, and where Porter's second algorithm differs. */
test.each([
  ['caresses', 'caress', 'caress'],
  ['dying', 'dy', 'die'],
  ['skies', 'ski', 'sky'],
  ['generalizations', 'gener', 'general'],
  ['relational', 'relat', 'relat'],
  ['hopefulness', 'hope', 'hope'],
  ['electricity', 'electr', 'electr'],
  ['happily', 'happili', 'happili'],
])("porter's stem of %s is %s, that of his second algorithm %s", (word, first, second) => {
  expect(createTokeniser({ dropStopWords: false, stem: 'porter' })(word)).toEqual([first]);
  expect(createTokeniser({ dropStopWords: false, stem: true })(word)).toEqual([second]);
});

test('the English stemmer drops the ending of a possessive, the others keep it', () => {
  const stemWith = (stem: boolean | 'porter' | 'english') =>
    createTokeniser({ dropStopWords: false, stem })("Rome’s tanks don't");
  expect(stemWith('english')).toEqual(['rome', 'tank', "don't"]);
  expect(stemWith(true)).toEqual(["rome's", 'tank', "don't"]);
  expect(stemWith('porter')).toEqual(["rome'", 'tank', "don't"]);
});

test('stems of 1980 go with either way of dropping stop words', () => {
  for (const dropStopWords of [true, ['the', 'are']])
    expect(createTokeniser({ dropStopWords, stem: 'porter' })('the skies are dying')).toEqual(['ski', 'dy']);
});

test.each([
  ['When did the kernels crash?', 'The kernel was crashing at noon.', ['kernel', 'crash']],
  ['the kernel’s crash', 'a crashed kernel', ['kernel', 'crash']],
  ['Is it the one that they were in?', 'It was the one they were in.', []],
  ['What is wrong with the machine?', 'The kernel was broken.', []],
  ['KERNEL kernel Kernels', 'kernel', ['kernel']],
  ['ports 8080 and 443', 'listen on 8080', ['8080']],
  ['', 'kernel', []],
])('of %j and %j', (a, b, expected) => {
  expect(listSharedContentStems(a, b)).toEqual(expected);
});

test.each([
  ['see http://x.org/2002/09/08 now', 'see                         now'],
  ['WWW.example.com', '               '],
  ['from ann@x.org, <bob@y.net> and me', 'from                        and me'],
  ['a: b // c at d. e', 'a: b // c at d. e'],
  ['', ''],
])('%s', (text, expected) => {
  expect(replaceByBlanks(text)).toBe(expected);
});
