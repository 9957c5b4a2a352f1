import { describe, expect, test } from 'vitest';
import { computeEntityOverlap, findEntities } from './entities.ts';

const listSortedEntities = (text: string) => [...findEntities(text)].sort();

describe('proper names', () => {
  test.each<[string, string[]]>([
    ["Caroline went to New York with Melanie's kids.", ['caroline', 'melanie', 'new york']],
    ["We met O'Reilly and E.B. White in St. Louis.", ['e.b. white', "o'reilly", 'st. louis']],
    ["Hey Mel! I'm so glad, and I think she is too.", ['mel']],
    ['They use Debian, which I like. He uses it too.', ['debian']],
    ['What did you eat? Why?', []],
    ['PLEASE READ THIS NOW.', []],
    ['We wrote to Jared\nWhy not?', ['jared']],
    ['mail joe@Foo.com or see http://Bar.org/Baz', []],
    ['', []],
  ])('%s', (text, expected) => {
    expect(listSortedEntities(text)).toEqual(expected);
  });
});

describe('numbers', () => {
  test.each<[string, string[]]>([
    ['it cost $1,200.50 for 50km, the 10th of 05', ['10', '1200.5', '5', '50']],
    ['about 3.5 kg, 7%, or 3 of 007', ['3', '3.5', '7']],
    ['kernel 2.4.18, but v2.4.18 and ipv6 and 4f2a9 are words', ['2.4.18']],
    ['on 2023-05-08', ['2023', '5', '8']],
    ['12345678901234567890', ['12345678901234567890']],
  ])('%s', (text, expected) => {
    expect(listSortedEntities(text)).toEqual([...expected].sort());
  });
});

describe('titles between quotation marks are one entity each', () => {
  test.each<[string, string[]]>([
    ['we saw "The Matrix" again', ['the matrix']],
    ['she read “Becoming Nicole,” he did not', ['becoming nicole']],
    ["she read 'Charlotte's Web' to them", ["charlotte's web"]],
    ['she read ‘Charlotte’s Web’ to them', ["charlotte's web"]],
    ['we read "Catch 22" at school', ['catch 22']],
    ['she said "yes" to it', []],
    ["the dogs' bowl and the cats' bed", []],
    ['he said "one two three four five six seven eight nine ten eleven twelve thirteen" once', []],
  ])('%s', (text, expected) => {
    expect(listSortedEntities(text)).toEqual(expected);
  });

  test.each(["'a ", '“a '])('behind 100,000 marks that open nothing: %j', (mark) => {
    expect(listSortedEntities(`she read "Becoming Nicole" ${mark.repeat(100_000)}`)).toEqual(['becoming nicole']);
    expect(listSortedEntities(`${mark.repeat(3)}\nshe read "Becoming Nicole"`)).toEqual(['becoming nicole']);
  });
});

test.each([
  [['ann', 'paris', '7'], ['paris', '7', 'bob', 'x', 'y'], 2 / 3],
  [['ann'], ['ann', 'bob'], 1],
  [['ann', 'bob'], [], 0],
  [[], ['ann'], 0],
])('the share of %j in %j', (a, b, expected) => {
  expect(computeEntityOverlap(new Set(a), new Set(b))).toBe(expected);
});
