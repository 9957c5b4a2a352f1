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

/** The tokens of a text within a longer sequence. */
export interface TokenSpan {
  /** All tokens of the sequence. */
  readonly ids: readonly number[];
  /** The first token of the text, and the one after its last. */
  readonly start: number;
  readonly end: number;
}

/**
 * A text after a prompt and the texts before it, each closed by the token that closes a text: `[CLS] prompt, older
 * [SEP] newer [SEP] text [SEP]`. The context is cut from the left, and the text only where it alone is too long.
 *
 * @param context the oldest text first.
 * @throws ValidationError for a tokeniser that does not write one token before a text and one after it.
 */
export function tokeniseInContext(
  tokeniser: Tokeniser,
  prompt: string,
  context: readonly string[],
  text: string,
  limit: number,
): TokenSpan {
  const tokenise = (part: string) => tokeniser.encode(part, { add_special_tokens: false });
  const frame = tokeniser.encode('');
  if (frame.length !== 2)
    throw new ValidationError(
      `the tokeniser writes ${frame.length} special tokens around a text, and context needs 2; use another model`,
    );
  const [first, last] = frame as [number, number];
  const before = [first, ...tokenise(prompt)];
  const own = tokenise(text).slice(0, Math.max(0, limit - before.length - 1));
  const room = limit - before.length - own.length - 1;
  const older = context.flatMap((part) => [...tokenise(part), last]);
  const left = room > 0 ? older.slice(-room) : [];
  const start = before.length + left.length;
  return { ids: [...before, ...left, ...own, last], start, end: start + own.length };
}
