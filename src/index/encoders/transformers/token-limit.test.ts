import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { countPromptTokens, type Tokeniser, tokeniseWithin } from './token-limit.ts';

/** A word is the number of its letters; special tokens stand around the text. */
function createTokeniser(before: readonly number[], after: readonly number[]): Tokeniser {
  return {
    encode(text, options) {
      const plain = text
        .split(' ')
        .filter((word) => word !== '')
        .map((word) => word.length);
      return options?.add_special_tokens === false ? plain : [...before, ...plain, ...after];
    },
    all_special_ids: [...before, ...after],
  };
}

describe('a text is cut to the limit', () => {
  test.each<[string, number[], number[], string, number, number[]]>([
    ['and keeps both special tokens', [101], [102], 'a bb ccc dddd', 5, [101, 1, 2, 3, 102]],
    ['not if it has as many tokens', [101], [102], 'a bb ccc', 5, [101, 1, 2, 3, 102]],
    ['without special tokens', [], [], 'a bb ccc', 2, [1, 2]],
    ['with special tokens after it alone', [], [7, 9], 'a bb ccc', 4, [1, 2, 7, 9]],
    ['with special tokens before it alone', [7, 9], [], 'a bb ccc', 3, [7, 9, 1]],
    ['if it repeats a word', [1], [1], 'a a a a a', 4, [1, 1, 1, 1]],
    ['if it is empty', [101], [102], '', 2, [101, 102]],
  ])('%s', (_, before, after, text, limit, expected) => {
    expect(tokeniseWithin(createTokeniser(before, after), text, limit)).toEqual(expected);
  });

  test('unless no token of it is left', () => {
    expect(() => tokeniseWithin(createTokeniser([101], [102]), 'a bb', 2)).toThrow(
      new ValidationError('maxTokens leaves no token for the text beside 2 special tokens: 2; raise maxTokens'),
    );
  });
});

test('a prompt counts with the special tokens before it', () => {
  expect(countPromptTokens(createTokeniser([101], [102]), 'to be found:')).toBe(4);
  expect(countPromptTokens(createTokeniser([], [102]), 'query:')).toBe(1);
});
