/** How the tokens of a text are counted: by the tokenizer of a model, as words, or as a quarter of the characters. */
export const TOKEN_COUNTERS = Object.freeze(['o200k_base', 'cl100k_base', 'words', 'characters/4'] as const);
/** One of {@link TOKEN_COUNTERS}. */
export type TokenCounterName = (typeof TOKEN_COUNTERS)[number];
