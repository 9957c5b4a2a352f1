import { describe, expect, test } from 'vitest';
import { InvalidFilterError } from '../../core/errors/errors.ts';
import { bindFilter, compileFilter } from './compile-filter.ts';
import { FILTER_CASES, REFUSED_VARIABLES, TURNS } from './filter.cases.ts';
import type { FilterVariables } from './filter.ts';

test.each(FILTER_CASES)('$text', ({ text, accepted, variables }) => {
  const [accepts, bound] = [compileFilter(text), bindFilter(text, variables)];
  const names = Object.entries(TURNS);
  expect(names.filter(([, turn]) => accepts(turn, variables)).map(([name]) => name)).toEqual(accepted);
  expect(names.filter(([, turn]) => bound(turn)).map(([name]) => name)).toEqual(accepted);
});

describe('variables', () => {
  test.each(REFUSED_VARIABLES)('a value that no attribute may have is refused: %j', (value, expected) => {
    const accepts = compileFilter("id = 'nobody' and outcome = $query.x");
    const variables = { x: value } as FilterVariables;
    expect(() => accepts(TURNS.plain, variables)).toThrow(InvalidFilterError);
    expect(() => accepts(TURNS.plain, variables)).toThrow(expected);
    expect(() => bindFilter('outcome = $query.x', variables)).toThrow(expected);
  });

  test('a filter with variables needs their values', () => {
    expect(() => compileFilter('channel = $query.channel')(TURNS.plain)).toThrow(
      'invalid filter at $query.channel: expected values of variables, got none; pass the variables beside the filter',
    );
  });

  test('a value that the filter does not read may be anything', () => {
    expect(compileFilter('outcome = $query.x')(TURNS.plain, { x: 1, y: Number.NaN })).toBe(true);
  });
});

test('names that every object has are neither attributes nor variables', () => {
  expect(compileFilter('exists toString')(TURNS.plain)).toBe(false);
  expect(compileFilter('kind = $query.toString')({ attributes: {} }, {})).toBe(true);
  expect(compileFilter("`__proto__` = 'x'")({ attributes: { ['__proto__']: 'x' } })).toBe(true);
});
