import { expect, test } from 'vitest';
import { computeEqualBudget, countRowEvaluations, GRADIENT_EVALUATIONS } from './search-budget.ts';

test('a training evaluates its rows with their gradients each epoch, and the others before the first and after each', () => {
  const epochs = 3;
  expect(countRowEvaluations({ epochs, rows: 11, validationRows: 5 })).toBe(
    GRADIENT_EVALUATIONS * (11 + 11 + 11) + 5 + 5 + 5 + 5,
  );
  expect(countRowEvaluations({ epochs: 0, rows: 11, validationRows: 0 })).toBe(0);
});

test('a search has as many evaluations of all rows as make up the same work, and one at least', () => {
  expect(computeEqualBudget(7 * 11, 11)).toBe(7);
  expect(computeEqualBudget(7 * 11 + 7, 11)).toBe(8);
  expect(computeEqualBudget(3, 11)).toBe(1);
});
