import { expect, test } from 'vitest';
import type { QueryType } from './classify-query.ts';
import { STRATEGY_WEIGHTS, selectStrategy } from './strategy.ts';

const factual: QueryType = {
  category: 'factual',
  entityFocused: true,
  timeFocused: false,
  procedural: false,
  requiresDomainDb: false,
};

test('the weights are those of the seed, and each strategy sums to 1', () => {
  expect(Object.values(STRATEGY_WEIGHTS).map((weights) => Object.values(weights))).toEqual([
    [0.25, 0.4, 0.2, 0.1, 0.05],
    [0.45, 0.05, 0.05, 0.15, 0.3],
    [0.35, 0.25, 0.15, 0.2, 0.05],
    [0.3, 0.15, 0.25, 0.25, 0.05],
  ]);
  for (const weights of Object.values(STRATEGY_WEIGHTS))
    expect(Object.values(weights).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
});

test('conditions hold in the order of the seed', () => {
  const choose = (type: Partial<QueryType>) => selectStrategy({ ...factual, ...type }).name;
  expect(choose({ procedural: true })).toBe('procedural');
  expect(choose({ procedural: true, category: 'analytical' })).toBe('procedural');
  expect(choose({})).toBe('factual_entity_focused');
  expect(choose({ category: 'analytical' })).toBe('analytical');
  expect(choose({ category: 'exploratory' })).toBe('exploratory');
  expect(choose({ entityFocused: false })).toBe('exploratory');
  expect(selectStrategy(factual)).toEqual({
    name: 'factual_entity_focused',
    weights: STRATEGY_WEIGHTS.factual_entity_focused,
    rule: 'the question is factual and entity-focused',
  });
});
