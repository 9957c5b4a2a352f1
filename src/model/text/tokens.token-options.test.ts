import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { check } from '../../core/validation/validation.ts';
import { createTokenSchema } from './tokens.ts';

const schema = z.strictObject(createTokenSchema({ dropStopWords: false, stem: false }));

describe('the options of tokens', () => {
  test.each([
    [{}, { dropStopWords: false, stem: false }],
    [{ stem: 'porter' }, { dropStopWords: false, stem: 'porter' }],
    [
      { dropStopWords: ["don't", 'the', 'größe'], stem: true },
      { dropStopWords: ["don't", 'the', 'größe'], stem: true },
    ],
  ])('accept %j', (written, options) => {
    expect(check(schema, written)).toEqual({ value: options });
  });

  test.each([
    [{ dropStopWords: [] }, 'dropStopWords'],
    [{ dropStopWords: ['The'] }, 'dropStopWords'],
    [{ dropStopWords: ['of the'] }, 'dropStopWords'],
    [{ dropStopWords: 'terrier' }, 'dropStopWords'],
    [{ stem: 'snowball' }, 'stem'],
  ])('refuse %j', (written, path) => {
    const result = check(schema, written);
    expect('faults' in result && result.faults.map((fault) => fault.path.split('[')[0])).toEqual([path]);
  });
});
