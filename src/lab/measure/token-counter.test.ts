import { expect, test } from 'vitest';
import { countTokens } from './token-counter.ts';

test('tokens are words, with digits and in any script, not punctuation', () => {
  expect(countTokens("Don't re-send: v3.5, Grüße — 会議!")).toBe(7);
  expect(countTokens(' …\n')).toBe(0);
});
