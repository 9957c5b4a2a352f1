import { describe, expect, test } from 'vitest';
import { findConcepts, normaliseForm } from './concepts.ts';

const listForms = (text: string, title?: string) => findConcepts(text, title).map(({ form }) => form);
const listKinds = (text: string, title?: string) =>
  findConcepts(text, title).map(({ form, kind, count }) => `${form}: ${kind} ${count}`);

describe('phrases', () => {
  test.each<[string, string[]]>([
    ['She bought two old maps of the rivers and an e-mail client.', ['old map', 'river', 'e-mail client']],
    ['the women and children of these cities', ['woman', 'child', 'city']],
    ['a twenty-first-century band of self-made men', ['twenty-first-century band', 'self-made man']],
    ['He and they saw it, which was theirs.', []],
    ['It cost 200 dollars.', ['dollar']],
    ['a Linux kernel patch', ['linux', 'kernel patch', 'linux kernel patch']],
    ['see http://x.org/map or write to ann@x.org about maps', ['map']],
    ['the maps. The MAPS!\nmaps', ['map', 'maps']],
    ['', []],
    ['... - "" 12 1,200', []],
  ])('%s', (text, expected) => {
    expect(listForms(text)).toEqual(expected);
  });
});

describe('names', () => {
  test.each<[string, string[]]>([
    ["It is Bank of America's.", ['bank', 'america', 'bank of america']],
    ['They saw the 2018 FIFA World Cup in Russia.', ['2018 fifa world cup', 'russia']],
    ['They use Windows 95 there.', ['windows 95']],
    ["They met Carl Rogers’s and O'Reilly’s.", ['carl rogers', "o'reilly"]],
    ['They met Ann, Bob and Lotus Corp. there.', ['ann', 'bob', 'lotus corp']],
  ])('%s', (text, expected) => {
    expect(listKinds(text)).toEqual(expected.map((form) => `${form}: name 1`));
  });
});

describe('titles', () => {
  test('the given one, with and without its parenthesis, is the first', () => {
    expect(listKinds('The Matrix is a film.', 'The Matrix (1999 film)')).toEqual([
      'matrix (1999 film): title 1',
      'matrix: title 2',
      'film: phrase 1',
    ]);
  });

  test('between quotation marks', () => {
    expect(listKinds('We read "The Old Man and the Sea" and ‘Becoming Nicole’ on old maps.')).toEqual([
      'old man and the sea: title 1',
      'becoming nicole: title 1',
      'old map: phrase 1',
    ]);
  });

  test('that are empty or too long are left out', () => {
    expect(listForms('maps', '(film)')).toEqual(['(film)', 'map']);
    expect(listForms('maps', ' ')).toEqual(['map']);
    expect(listForms('maps', 'x '.repeat(500))).toEqual(['map']);
  });
});

test('counts every mention of a form', () => {
  expect(findConcepts('The old maps. An old map, and my old map: maps.')).toEqual([
    { form: 'old map', kind: 'phrase', count: 3 },
    { form: 'map', kind: 'phrase', count: 1 },
  ]);
});

test('does not depend on what was read before', () => {
  const text = 'The rpm of an old engine, by Carl Rogers';
  const before = findConcepts(text);
  findConcepts("rpm's, engines Rogers of The Old");
  expect(findConcepts(text)).toEqual(before);
});

test('a form has at most 8 words and 120 characters', () => {
  const many = Array.from({ length: 19 }, (_, i) => `stone${'abcdefghijklmnopqrs'[i]}`);
  const lengths = listForms(`a ${many.join(' ')} wall`).map((form) => form.split(' ').length);
  expect(Math.max(...lengths)).toBe(8);
  expect(listForms(`a ${'x'.repeat(121)} and walls`)).toEqual(['wall']);
});

// Each unit repeats a construct that one of the rules joins: the number of forms must not grow with the text.
test.each(['-a', 'A of ', 'A b ', '"', "'a ", '(', '. ', 'old ', 'A\n'])('a long text of %j has few forms', (unit) => {
  const text = unit.repeat(30_000 / unit.length);
  expect(findConcepts(text, text).length).toBeLessThan(200);
});

test.each([
  ['  The  Matrix, ', 'matrix'],
  ['St. Louis', 'st. louis'],
  ['‘Charlotte’s Web’', "charlotte's web"],
  ['Chicago (band)', 'chicago (band)'],
  ['ＩＢＭ', 'ibm'],
  ['1960', null],
  ['the', 'the'],
  ['x', null],
  ['…', null],
])('normalises %j', (text, expected) => {
  expect(normaliseForm(text)).toBe(expected);
});
