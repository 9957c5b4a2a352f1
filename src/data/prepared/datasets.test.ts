import { expect, test } from 'vitest';
import { ANSWERABLE_CATEGORIES, LOCOMO_CATEGORIES } from './datasets.ts';

test('the conversation answers all categories but the adversarial one', () => {
  expect(LOCOMO_CATEGORIES.filter((name) => !ANSWERABLE_CATEGORIES.includes(name))).toEqual(['adversarial']);
});
