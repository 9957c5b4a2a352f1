import { expect, test } from 'vitest';
import { TOKEN_COUNTERS } from './token-counter-names.ts';
import { createTokenCounter } from './token-counts.ts';

test.each([
  ['o200k_base', 'hello world', 2],
  ['cl100k_base', 'hello world', 2],
  ['words', 'Hello, big world!', 3],
  ['characters/4', 'Hello, big world', 4],
  ['characters/4', 'abc', 0],
] as const)('%s counts %j', async (name, text, tokens) => {
  expect((await createTokenCounter(name))(text)).toBe(tokens);
});

test('a special token inside a text is text', async () => {
  for (const name of TOKEN_COUNTERS) {
    const count = await createTokenCounter(name);
    expect(count('a <|endoftext|> b')).toBeGreaterThan(1);
    expect(count('')).toBe(0);
  }
  expect((await createTokenCounter('o200k_base'))('a <|endoftext|> b')).toBe(9);
});
