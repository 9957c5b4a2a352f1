import { expect, test } from 'vitest';
import { isSensitive } from './memory-fields.ts';

test('what is marked as sensitive is sensitive, and nothing else', () => {
  expect(isSensitive({ attributes: { sensitive: true } })).toBe(true);
  expect(isSensitive({ attributes: { sensitive: false } })).toBe(false);
  expect(isSensitive({ attributes: { sensitive: 'true' } })).toBe(false);
  expect(isSensitive({ attributes: {} })).toBe(false);
  expect(isSensitive({})).toBe(false);
});
