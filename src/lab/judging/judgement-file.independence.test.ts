import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertIndependentJudge, isSameAuthor } from './judgement-file.ts';

test.each([
  ['viktor', 'Viktor '],
  ['gpt-4o', 'openai/gpt-4o'],
  ['gpt-4o-2024-08-06', 'GPT-4o'],
  ['claude-sonnet-20250514', 'anthropic/claude-sonnet'],
  ['llama3:8b-instruct', 'llama3'],
  ['mistral-latest', 'mistral'],
])('%s and %s are one', (a, b) => expect(isSameAuthor(a, b)).toBe(true));

test.each([
  ['viktor', 'victoria'],
  ['gpt-4o', 'gpt-4o-mini'],
  ['gpt-4', 'gpt-5'],
  ['llama3', 'llama3.1'],
])('%s and %s are two', (a, b) => expect(isSameAuthor(a, b)).toBe(false));

test('a judge who wrote one of the queries is refused by name', () => {
  expect(() => assertIndependentJudge('gpt-4o', ['ana', 'openai/gpt-4o'])).toThrow(ValidationError);
  expect(() => assertIndependentJudge('gpt-4o', ['ana', 'openai/gpt-4o'])).toThrow(
    'judge gpt-4o wrote queries that it judges (generator openai/gpt-4o); use another judge, or other queries',
  );
  expect(() => assertIndependentJudge('gpt-4o', ['ana', 'bea'])).not.toThrow();
});
