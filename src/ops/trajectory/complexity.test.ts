import { expect, test } from 'vitest';
import { countComponents, countTextComponents } from './complexity.ts';

test.each([
  ['a single word', 'yes', 1],
  ['white space', '  \n ', 1],
  ['one clause', 'The server failed.', 1],
  ['two clauses of one sentence', 'I think we should go home.', 2],
  ['a verb group with a particle is one clause', 'She has not been paying attention.', 1],
  ['a sentence without a verb counts once', 'The server failed. Nothing else.', 2],
  ['a run of proper nouns is one entity', 'The server failed in New York.', 2],
  ['an amount of money is one entity', 'The server cost $300.', 2],
])('counts %s', (_, text, expected) => {
  expect(countComponents(text)).toBe(expected);
});

test('counts more in a longer text', () => {
  const once = 'The server failed on 5 May 2002, and John restarted it.';
  expect(countComponents(`${once} ${once}`)).toBe(2 * countComponents(once));
});

test('takes a batch of texts in order', () => {
  const texts = ['yes', 'I think we should go home.', 'The server failed.'];
  expect(countTextComponents(texts)).toEqual(Int32Array.of(1, 2, 1));
});
