import { z } from 'zod';
import type { TokenOptions } from './tokens.ts';

/** Ways to count the tokens of a text: by the tokenizer of a model, as words, or as a quarter of the characters. */
export const TOKEN_COUNTERS = Object.freeze(['o200k_base', 'cl100k_base', 'words', 'characters/4'] as const);
/** One of {@link TOKEN_COUNTERS}. */
export type TokenCounterName = (typeof TOKEN_COUNTERS)[number];

const WORD = /^[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*$/u;

/** A word as texts are split into words; another entry would drop nothing. */
const stopWord = z
  .string()
  .refine((word) => WORD.test(word) && word === word.toLowerCase(), 'a single word in lower case');

const stopWords = z.array(stopWord).min(1) as unknown as z.ZodType<readonly string[]>;

/** The schema of the options that decide which words of a text count, and in which form. */
export function createTokenSchema(defaults: TokenOptions) {
  return {
    dropStopWords: z.union([z.boolean(), stopWords]).default(defaults.dropStopWords),
    stem: z.union([z.boolean(), z.enum(['porter', 'english'])]).default(defaults.stem),
  };
}
