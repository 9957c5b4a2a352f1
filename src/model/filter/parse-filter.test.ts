import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidFilterError } from '../../core/errors/errors.ts';
import { filter } from './filter.fixture.ts';
import { type Filter, listFilterVariables, MAX_FILTER_DEPTH } from './filter.ts';
import { formatFilter } from './filter-schema.ts';
import { parseFilter } from './parse-filter.ts';

const readError = (text: string): InvalidFilterError => {
  try {
    parseFilter(text);
  } catch (error) {
    if (error instanceof InvalidFilterError) return error;
  }
  throw new Error(`no InvalidFilterError for ${text}`);
};

test('the tree of a text', () => {
  const text = `
    channel = $query.channel and not (outcome < 0.5 or exists sensitive)
    or memoryType in ['fact', "it's", null, true, -1e-3] and entities contains 'Bonn'
    or timestamp between 0 and $query.timestamp`;
  const tree: Filter = {
    op: 'or',
    of: [
      {
        op: 'and',
        of: [
          { op: '=', field: 'channel', value: { query: 'channel' } },
          {
            op: 'not',
            of: {
              op: 'or',
              of: [
                { op: '<', field: 'outcome', value: 0.5 },
                { op: 'exists', field: 'sensitive' },
              ],
            },
          },
        ],
      },
      {
        op: 'and',
        of: [
          { op: 'in', field: 'memoryType', values: ['fact', "it's", null, true, -0.001] },
          { op: 'contains', field: 'entities', value: 'Bonn' },
        ],
      },
      { op: 'between', field: 'timestamp', low: 0, high: { query: 'timestamp' } },
    ],
  };
  expect(parseFilter(text)).toEqual(tree);
  expect(listFilterVariables(tree)).toEqual(['channel', 'timestamp']);
});

test('the text of a tree is read as the tree', () => {
  fc.assert(
    fc.property(filter, (tree) => {
      expect(parseFilter(formatFilter(tree))).toEqual(tree);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["a   =  'x'", "a = 'x'"],
  ['a = "say ""it\'s"""', `a = 'say "it''s"'`],
  ['`and` = 1 AND `a b` != 2', '`and` = 1 and `a b` != 2'],
  ['a not in [1]', 'not a in [1]'],
  ['((a = 1)) and (b = 2 and c = 3)', 'a = 1 and (b = 2 and c = 3)'],
  ['a = 1 or (b = 2 and c = 3)', 'a = 1 or b = 2 and c = 3'],
  ['exists(a) and exists ( `b c` )', 'exists a and exists `b c`'],
  ['not (not a = 1)', 'not not a = 1'],
  ['a = $query.`x``y`', 'a = $query.`x``y`'],
  ['user-id.x:y = 0.50', 'user-id.x:y = 0.5'],
])('%s is written as %s', (text, written) => {
  expect(formatFilter(parseFilter(text))).toBe(written);
});

describe('an error has the place, what was expected, and what to do', () => {
  test.each([
    [
      'channel = lie',
      "line 1, column 11: expected a string, a number, true, false, null or a variable, got lie; put a string in quotes: 'lie'",
    ],
    [
      'channel',
      'line 1, column 8: expected an operator: =, !=, <, <=, >, >=, in, between or contains, got the end of the text; write an operator after channel',
    ],
    [
      '',
      'line 1, column 1: expected a condition, as channel = $query.channel, got the end of the text; write a key first',
    ],
    [
      'tags contain 1',
      'column 6: expected an operator: =, !=, <, <=, >, >=, in, between or contains, got contain; did you mean contains?',
    ],
    ['tags contains 1', 'column 15: expected a string or a variable, got 1; put the string after contains in quotes'],
    ['a == 1', 'column 3: expected an operator: =, !=, <, <=, >, >=, in, between or contains, got ==; did you mean =?'],
    ['a <> 1', 'got <>; did you mean !=?'],
    ['a is null', 'got is; did you mean = null or exists?'],
    ["a like 'x'", 'got like; did you mean contains?'],
    ['a = 1 && b = 2', 'column 7: expected and, or, or the end of the text, got &&; did you mean and?'],
    ['!a = 1', 'column 1: expected a condition, as channel = $query.channel, got !; did you mean not?'],
    ['a = 1 adn b = 2', 'column 7: expected and, or, or the end of the text, got adn; did you mean and?'],
    ['(a = 1', 'column 7: expected and, or, or ), got the end of the text; close the parenthesis'],
    ['a = 1)', 'column 6: expected and, or, or the end of the text, got )'],
    ['a in 1', "column 6: expected [, got 1; write the values in brackets, as ['a', 'b']"],
    ['a in [1 2]', 'column 9: expected , or ], got 2'],
    ['a in [1,]', 'column 9: expected a string, a number, true, false, null or a variable, got ]; write a value'],
    ['a between 1 or 2', 'column 13: expected and, got or; write between LOW and HIGH'],
    ["a = 'x", "column 5: expected a closing ', got the end of the text; write ' at the end, and '' for ' inside"],
    ['a = 1\nand b ? 2', 'line 2, column 7: expected a key, a value or an operator, got "?"'],
    [
      'a = $channel',
      'column 5: expected a variable of the query, got $channel; name a field of the query, as $query.channel',
    ],
    [
      'a = 9007199254740992',
      'column 5: expected an integer of at most 9007199254740991 in magnitude, got 9007199254740992; write it as a string, here and in the attribute',
    ],
    ['a = 1e999', 'column 5: expected a finite number, got 1e999'],
    ['a = NaN', "got NaN; put a string in quotes: 'NaN'"],
    ['a = 1st', 'column 5: expected a number, got 1st'],
    ['a = 1.', 'column 5: expected a number, got 1.'],
    ['a = 007', 'column 5: expected a number, got 007'],
    ['a = -01.5', 'column 5: expected a number, got -01.5'],
    [
      "a = '\ud800'",
      'column 5: expected well-formed Unicode without U+0000, got "\\ud800"; remove half surrogate pairs and U+0000',
    ],
    ["text contains 'x'", 'column 1: expected a field that filters read, got text; filter by an attribute or by id,'],
    [
      "timestamp > '2020-01-01'",
      "column 13: expected a timestamp in milliseconds since 1970-01-01 UTC, got '2020-01-01'; write 1577836800000",
    ],
    [
      'and = 1',
      'column 1: expected a condition, as channel = $query.channel, got and; write a key first; put a key that is a keyword in backticks',
    ],
  ])('%j', (text, message) => {
    expect(readError(text).message).toContain(message);
  });

  test('and shows the line with a caret, as far as a line is wide', () => {
    expect(readError("a = 1\n\tand 😀x = 'b'").message.split('\n').slice(1)).toEqual([
      "  \tand 😀x = 'b'",
      '  \t    ^',
    ]);
    const long = `a = '${'x'.repeat(100_000)}' or b = c or ${'d = 1 or '.repeat(1000)}`;
    const [, shown = '', caret = ''] = readError(long).message.split('\n');
    expect(shown.length).toBeLessThan(130);
    expect(shown.slice(caret.length - 1)).toMatch(/^c or d = 1/);
  });
});

describe('depth', () => {
  const nest = (count: number, left: string, right = '') => `${left.repeat(count)}a = 1${right.repeat(count)}`;

  test.each([
    ['not ', ''],
    ['(', ')'],
    ['b = 1 and (c = 1 or ', ')'],
  ])('%s: too many levels are an error with a place, however many', (left, right) => {
    for (const count of [MAX_FILTER_DEPTH, 200_000]) {
      expect(readError(nest(count, left, right)).message).toMatch(
        /column \d+: expected at most 100 levels, got a deeper/,
      );
    }
  });

  test('a tree of all levels has a text that is read again', () => {
    const text = nest(MAX_FILTER_DEPTH - 1, 'not ');
    expect(formatFilter(parseFilter(text))).toBe(text);
    let tree: Filter = parseFilter('a = 1');
    for (let level = 1; level < MAX_FILTER_DEPTH; level++)
      tree = { op: level % 2 === 0 ? 'or' : 'and', of: [tree, tree] };
    expect(() => formatFilter({ op: 'not', of: tree })).toThrow(InvalidFilterError);
  });
});

test('a chain of 100,000 conditions is one level', () => {
  const tree = parseFilter(Array.from({ length: 100_000 }, (_, i) => `a = ${i}`).join(' or '));
  expect(tree.op === 'or' && tree.of.length).toBe(100_000);
});
