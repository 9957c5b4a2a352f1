import { expect, test } from 'vitest';
import { createTokenCounter, TOKEN_COUNTERS } from './tokens.ts';

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

test('every special token of a real tokenizer is counted as the text that it is', async () => {
  const tokenizers = {
    o200k_base: await import('gpt-tokenizer/encoding/o200k_base'),
    cl100k_base: await import('gpt-tokenizer/encoding/cl100k_base'),
  };
  for (const [name, { encode, decode }] of Object.entries(tokenizers)) {
    const count = await createTokenCounter(name as keyof typeof tokenizers);
    for (const token of ['endoftext', 'endofprompt', 'fim_prefix', 'fim_middle', 'fim_suffix', 'im_start', 'im_end']) {
      const text = `a <|${token}|> b`;
      const asText = encode(text, { disallowedSpecial: new Set() });
      expect([count(text), decode(asText)], text).toEqual([asText.length, text]);
      expect(asText.length, text).toBeGreaterThan(5); // the special token would be one of three
    }
  }
});

test('a long run without a break is counted in pieces, and no other text is', async () => {
  const count = await createTokenCounter('o200k_base');
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  for (const text of [
    'a'.repeat(4100),
    'バ'.repeat(2500),
    `x ${' '.repeat(3000)}`,
    '😀'.repeat(2100),
    '-'.repeat(5000),
  ]) {
    const exact = countTokens(text);
    expect(count(text)).toBeGreaterThanOrEqual(exact);
    expect(count(text)).toBeLessThanOrEqual(exact + 2 * Math.ceil(text.length / 2000));
  }
  const prose = 'Anna planted 12 cherry trees, バイオリン too.\n'.repeat(300);
  expect(count(prose)).toBe(countTokens(prose));
  expect(count('バ'.repeat(100_000))).toBeGreaterThan(10_000);
});
