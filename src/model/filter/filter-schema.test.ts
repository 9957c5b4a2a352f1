import { describe, expect, test } from 'vitest';
import { ConfigurationError, InvalidFilterError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import type { Filter } from './filter.ts';
import { filterSchema, readFilter } from './filter-schema.ts';

const one: Filter = { op: '=', field: 'a', value: 1 };

test('a text and its tree are one filter', () => {
  expect(filterSchema.parse('a = 1')).toEqual(one);
  expect(filterSchema.parse(one)).toEqual(one);
  expect(readFilter({ op: 'not', of: { op: 'or', of: [one, one] } })).toEqual(readFilter('not (a = 1 or a = 1)'));
});

describe('refuses a tree with its path', () => {
  test.each<[unknown, string]>([
    [null, '(top level): expected object, got null'],
    [[], '(top level): expected object, got []'],
    [{ op: 'xor', of: [] }, 'op: expected "and" or "or" or "not"'],
    [{ op: 'and', of: [one] }, 'of: expected array >= 2, got [{"op":"="'],
    [
      { op: 'and', of: [one, { op: 'not', of: { op: '=', feild: 'a', value: 1 } }] },
      'of[1].of.field: expected string, got nothing',
    ],
    [
      { op: '=', field: 'a', value: 1, values: [] },
      'values: expected one of op, field, value, got unknown key "values"; did you mean value?',
    ],
    [{ ...one, value: Number.NaN }, 'value: expected a finite number (compare with a finite number), got NaN'],
    [{ ...one, value: -Infinity }, 'value: expected a finite number'],
    [
      { ...one, value: 2 ** 53 },
      'value: expected an integer of at most 9007199254740991 in magnitude (write it as a string',
    ],
    [{ ...one, value: [1] }, 'value: expected'],
    [{ ...one, value: { query: 1 } }, 'value'],
    [{ ...one, field: '\udc00' }, 'field: expected well-formed Unicode without U+0000'],
    [{ ...one, field: 'text' }, 'field: expected a field that filters read'],
    [{ op: 'in', field: 'a', values: [1, Number.NaN] }, 'values[1]: expected a finite number'],
    [{ op: 'in', field: 'timestamp', values: [1, 'x'] }, '(top level): expected a timestamp in milliseconds'],
    [{ op: 'between', field: 'a', low: 1 }, 'high: expected'],
    [{ op: 'contains', field: 'a', value: 1 }, 'value: expected string or object, got 1'],
  ])('%j', (tree, message) => {
    expect(() => readFilter(tree)).toThrow(InvalidFilterError);
    expect(() => readFilter(tree)).toThrow(`invalid filter at ${message}`);
  });

  test('also one that is deeper than calls can be', () => {
    let tree: unknown = one;
    for (let level = 0; level < 100_000; level++) tree = { op: 'not', of: tree };
    expect(() => readFilter(tree)).toThrow(
      'invalid filter at (top level): expected at most 100 levels, got a deeper tree',
    );
  });
});

test('an error of a config names the place in the text', () => {
  expect(() => parse(filterSchema, "channel = 'a' adn b = 1", 'the config')).toThrow(ConfigurationError);
  expect(() => parse(filterSchema, "channel = 'a' adn b = 1", 'the config')).toThrow(
    'expected a filter with and, or, or the end of the text at line 1, column 15, not adn (did you mean and?), got "channel = \'a\' adn b = 1"',
  );
  expect(() => parse(filterSchema, { op: 'not', of: { op: '=' } }, 'the config')).toThrow(
    'a filter with string at of.field',
  );
});
