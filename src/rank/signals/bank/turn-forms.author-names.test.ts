import { describe, expect, test } from 'vitest';
import { TURNS } from './small-threads.fixture.ts';
import { AuthorNames, listCallNames, listNameWords } from './turn-forms.ts';

test.each([
  ['Ann Lee', ['ann lee', 'ann']],
  ['Bo', ['bo']],
  ['[gnome]^x', ['[gnome]^x']],
])('%s is called %j', (author, names) => {
  expect(listCallNames(author)).toEqual(names);
});

test('words that may name somebody are those of the text, lower-case, with the marks that nicknames hold inside', () => {
  expect([...listNameWords("Ann's soup, x_y-z and e.t. or {a|b}: ÉLAN?")]).toEqual([
    'ann',
    's',
    'soup',
    'x_y-z',
    'and',
    'e.t',
    'or',
    'a|b}',
    'élan',
  ]);
  expect(listNameWords('…').size).toBe(0);
});

describe('authors', () => {
  const names = new AuthorNames(TURNS);

  test.each([
    ['where is ann?', 11, ['Ann Lee']],
    ["Bo's soup and Ann's", 11, ['Ann Lee', 'Bo']],
    ["Bo's soup and Ann's", 1, ['Ann Lee']],
    ['lee is the second word of a name', 11, []],
    ['the annex', 11, []],
    ['dora', 11, ['Dora']],
    // Dora's first turn is the tenth.
    ['dora', 10, ['Dora']],
    ['dora', 9, []],
    ['ann', 0, []],
  ])('that are named in %j before %i', (text, cutoff, authors) => {
    expect([...names.findNamedAuthors(text, cutoff)]).toEqual(authors);
  });

  test.each([
    ["Does Bo's soup please Ann Lee?", 11, 'Does   soup please   Lee?'],
    ['Does Dora’s oven?', 10, 'Does   oven?'],
    ['Does Dora’s oven?', 9, 'Does Dora’s oven?'],
    ['annex', 11, 'annex'],
  ])('are taken out of %j before %i', (text, cutoff, left) => {
    expect(names.without(text, cutoff)).toBe(left);
  });

  test('are nobody where nobody is known', () => {
    const nobody = new AuthorNames(TURNS.map((turn) => ({ ...turn, author: null })));
    expect(nobody.without('Bo and Ann', 11)).toBe('Bo and Ann');
    expect(nobody.findNamedAuthors('Bo and Ann', 11).size).toBe(0);
  });

  test('who share a first name are both named from when each speaks', () => {
    const buildAuthoredTurn = (author: string, i: number) =>
      ({ ...TURNS[0], id: `${i}`, author }) as (typeof TURNS)[number];
    const anns = new AuthorNames(['Ann Lee', 'Ann Roe'].map(buildAuthoredTurn));
    expect([...anns.findNamedAuthors('ann', 1)]).toEqual(['Ann Lee']);
    expect([...anns.findNamedAuthors('ann', 2)]).toEqual(['Ann Lee', 'Ann Roe']);
  });
});
