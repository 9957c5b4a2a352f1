import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { computePlantedLevels } from './planted-conversations.ts';

/** Probability of each turn to be relevant, the indicated one first; the value of a ranking by its order. */
function measureOrder(order: readonly number[], strength: number) {
  const shares = order.map((turn) => (turn === 0 ? strength : 0) + (1 - strength) / order.length);
  return { first: shares[0] as number, mrr: shares.reduce((sum, share, rank) => sum + share / (rank + 1), 0) };
}

/** Every order of the turns 0 … count - 1. */
function listOrders(count: number): number[][] {
  if (count === 0) return [[]];
  return listOrders(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => [...order.slice(0, at), count - 1, ...order.slice(at)]),
  );
}

test.each([
  [2, 0.5],
  [3, 0],
  [5, 0.25],
  [5, 1],
])('%d turns at strength %d: the mean and the best over all orders', (branching, strength) => {
  const values = listOrders(branching).map((order) => measureOrder(order, strength));
  const { chance, ceiling } = computePlantedLevels(branching, strength);
  for (const key of ['first', 'mrr'] as const) {
    const mean = values.reduce((sum, value) => sum + value[key], 0) / values.length;
    expect(ceiling[key]).toBeCloseTo(Math.max(...values.map((value) => value[key])), 12);
    // By chance no order is preferred, whatever the strength.
    expect(chance[key]).toBeCloseTo(mean, 12);
  }
});

test('refuses what is no number of turns and no strength', () => {
  expect(() => computePlantedLevels(2.5, 1)).toThrow(ValidationError);
  expect(() => computePlantedLevels(0, 1)).toThrow('branching is no positive integer: 0');
  expect(() => computePlantedLevels(5, 1.5)).toThrow('strength is outside [0, 1]: 1.5');
});
