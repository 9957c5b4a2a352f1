import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { contextSharesSchema, splitBudget } from './packing.ts';

test.each([
  ['memory-focused', 800, 1200, 8, 12],
  ['balanced', 1000, 1000, 10, 10],
  ['rag-focused', 1400, 600, 14, 6],
] as const)('%s divides 2000 tokens', (preset, documents, memories, documentsK, memoriesK) => {
  expect(splitBudget(2000, preset)).toMatchObject({
    documents: { tokens: documents, k: documentsK },
    memories: { tokens: memories, k: memoriesK },
  });
});

test('each source is asked for at least one result, and no token is lost', () => {
  const { documents, memories } = splitBudget(7, { documents: 0.33, memories: 0.67 });
  expect([documents, memories]).toEqual([
    { tokens: 2, k: 1 },
    { tokens: 5, k: 1 },
  ]);
});

test.each([0, -5, 1.5, Number.NaN])('a budget of %d is refused', (budget) => {
  expect(() => splitBudget(budget, 'balanced')).toThrow(ValidationError);
});

test('weights sum to 1 within a hundredth', () => {
  const read = (documents: number, memories: number) => parse(contextSharesSchema, { documents, memories }, 'weights');
  expect(read(0.5, 0.509)).toEqual({ documents: 0.5, memories: 0.509 });
  expect(() => read(0.5, 0.52)).toThrow('weights whose sum is 1 within 0.01');
  expect(() => read(1.2, -0.2)).toThrow('1.2');
});
