import { ValidationError } from '../../../core/errors/errors.ts';

/** The part of a tokeniser of @huggingface/transformers that the encoder uses. */
export interface Tokeniser {
  encode(text: string, options?: { readonly add_special_tokens?: boolean }): number[];
  readonly all_special_ids: readonly number[];
}

function findFrame(ids: readonly number[], plain: readonly number[]): number {
  for (let before = 0; before <= ids.length - plain.length; before++)
    if (plain.every((id, i) => id === ids[before + i])) return before;
  throw new ValidationError(
    `the tokeniser writes a long text in other tokens with special tokens than without (${ids.length} and ${plain.length}); raise maxTokens`,
  );
}

/**
 * The tokens of a text, at most `limit` of them. Cuts the text, and keeps the special tokens around it, as
 * sentence-transformers does: the tokeniser's own truncation drops the last special token.
 *
 * @throws ValidationError when the limit leaves no token for the text.
 */
export function tokeniseWithin(tokeniser: Tokeniser, text: string, limit: number): number[] {
  const ids = tokeniser.encode(text);
  if (ids.length <= limit) return ids;
  const plain = tokeniser.encode(text, { add_special_tokens: false });
  const before = findFrame(ids, plain);
  const after = ids.length - before - plain.length;
  const kept = limit - before - after;
  if (kept < 1)
    throw new ValidationError(
      `maxTokens leaves no token for the text beside ${before + after} special tokens: ${limit}; raise maxTokens`,
    );
  return [...ids.slice(0, before + kept), ...ids.slice(ids.length - after)];
}

/** Tokens of a prompt at the start of a text, with the special tokens before it. */
export function countPromptTokens(tokeniser: Tokeniser, prompt: string): number {
  const plain = tokeniser.encode(prompt, { add_special_tokens: false });
  return findFrame(tokeniser.encode(prompt), plain) + plain.length;
}
