import { describe, expect, test } from 'vitest';
import { curationRuleOptions, decideByRules, readCuratedText } from './curation-rules.ts';

const options = curationRuleOptions.parse({});
const decide = (text: string, known: string, cosine = 0.97) =>
  decideByRules(readCuratedText(text), [{ text: readCuratedText(known), cosine }], options);

describe('a new text beside one that is there', () => {
  test.each([
    ['Ada lives in London.', 'ada lives in london', 'noop', 'same words'],
    ['Ada lives in London', 'I hear that Ada lives in London, near the river', 'noop', 'same words'],
    ['Ada lives in London near the river', 'Ada lives in London', 'update', 'more words'],
    ['The deploy of the server takes 9 minutes', 'The deploy of the server takes 7 minutes', 'delete', 'other value'],
    ['Ada no longer lives in London', 'Ada lives in London', 'delete', 'correction'],
    ["Ada doesn't live in London any more", 'Ada lives in London', 'delete', 'correction'],
    ['Ada does not live in London anymore', 'Ada lives in London', 'delete', 'correction'],
    ['Ada lives in Paris', 'Ada lives in London', 'add', 'new'],
    ['Lon', 'London', 'add', 'new'],
    ['the', 'in the', 'add', 'new'],
    ['', '', 'add', 'new'],
  ] as const)('%s', (text, known, operation, rule) => {
    expect(decide(text, known)).toEqual({ operation, rule, neighbour: operation === 'add' ? null : 0 });
  });
});

test('below the cosine of a rule the rule does not apply', () => {
  expect(decide('Ada lives in London', 'ada lives in london', 0.94).operation).toBe('add');
  expect(decide('Ada lives in London near the river', 'Ada lives in London', 0.79).operation).toBe('add');
  expect(decide('Ada no longer lives in London', 'Ada lives in London', 0.59).operation).toBe('add');
  expect(decide('Ada no longer lives in London', 'Ada lives in London', 0.6).operation).toBe('delete');
});

test('the nearest text that a rule fits decides', () => {
  const known = [
    { text: 'Eve lives in Rome', cosine: 0.99 },
    { text: 'Ada lives in London', cosine: 0.98 },
    { text: 'ada lives in london', cosine: 0.97 },
  ].map(({ text, cosine }) => ({ text: readCuratedText(text), cosine }));
  const added = readCuratedText('Ada lives in London');
  expect(decideByRules(added, known, options)).toMatchObject({ operation: 'noop', neighbour: 1 });
  expect(decideByRules(added, [], options).operation).toBe('add');
});
