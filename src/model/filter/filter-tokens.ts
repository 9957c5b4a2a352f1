import { type FilterFault, InvalidFilterError } from '../../core/errors/errors.ts';
import { findNumberFault, findTextFault } from './filter-values.ts';

/** A token of the text of a filter: `start` and `end` are places in the text. */
export type FilterToken = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'word'; readonly value: string }
  | { readonly kind: 'key'; readonly value: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'variable'; readonly value: string }
  | { readonly kind: 'symbol'; readonly value: string }
  | { readonly kind: 'end' }
);

/** A key that needs no backticks, and a keyword. */
const WORD = /[\p{L}_][\p{L}\p{N}\p{M}_.:-]*/uy;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** What follows a number that is none: `01`, `1.`. */
const DIGITS = /[\d.]+/y;
const SYMBOL = /!=|<=|>=|<>|==|&&|\|\||[=<>()[\],!]/y;
const SPACE = /\s+/y;
const VARIABLE = '$query.';

/** How a text shows a place: at most this number of characters of its line before it, and after it. */
const EXCERPT_SIDE = 60;

export const KEYWORDS = ['and', 'or', 'not', 'in', 'between', 'contains', 'exists', 'true', 'false', 'null'] as const;

/** True if a key may be written without backticks. */
export function isPlainKey(key: string): boolean {
  WORD.lastIndex = 0;
  const isWord = WORD.exec(key)?.[0] === key;
  return isWord && !(KEYWORDS as readonly string[]).includes(key.toLowerCase());
}

/** The place of an error in a text: line, column in characters, and the line with a caret below. */
export function createTextError(
  text: string,
  start: number,
  fault: Omit<FilterFault, 'place' | 'excerpt'>,
): InvalidFilterError {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', start);
  const line = text.slice(0, lineStart).split('\n').length;
  const before = text.slice(lineStart, start);
  const column = [...before].length + 1;
  const shown = [...before].slice(-EXCERPT_SIDE).join('');
  const after = [...text.slice(start, lineEnd === -1 ? undefined : lineEnd)].slice(0, EXCERPT_SIDE).join('');
  const caret = `${shown.replace(/[^\t]/gu, ' ')}^`;
  return new InvalidFilterError({
    place: `line ${line}, column ${column}`,
    ...fault,
    excerpt: `  ${shown}${after}\n  ${caret}`,
  });
}

/** Reads the tokens of a text from left to right, in linear time. */
export class FilterTokens {
  readonly text: string;
  #offset = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The next token; `end` at the end of the text, again and again. */
  next(): FilterToken {
    this.#match(SPACE);
    const start = this.#offset;
    const { text } = this;
    const first = text[start];
    if (first === undefined) return { kind: 'end', start, end: start };
    if (first === "'" || first === '"')
      return { kind: 'string', value: this.#readQuoted(first), start, end: this.#offset };
    if (first === '`') return { kind: 'key', value: this.#readQuoted(first), start, end: this.#offset };
    if (first === '$') return { kind: 'variable', value: this.#readVariable(), start, end: this.#offset };
    const word = this.#match(WORD);
    if (word !== undefined) return { kind: 'word', value: word, start, end: this.#offset };
    const number = this.#match(NUMBER);
    if (number !== undefined)
      return { kind: 'number', value: this.#checkNumber(number, start), start, end: this.#offset };
    const symbol = this.#match(SYMBOL);
    if (symbol !== undefined) return { kind: 'symbol', value: symbol, start, end: this.#offset };
    const got = JSON.stringify(String.fromCodePoint(text.codePointAt(start) as number));
    const remedy = 'put a string in quotes and an unusual key in backticks';
    throw createTextError(text, start, { expected: 'a key, a value or an operator', got, remedy });
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.#offset += found.length;
    return found;
  }

  #checkNumber(written: string, start: number): number {
    const value = Number(written);
    const fault = findNumberFault(value);
    if (fault !== undefined) throw createTextError(this.text, start, { ...fault, got: written });
    this.#refuseWordAfterNumber(written, start);
    return value;
  }

  #refuseWordAfterNumber(written: string, start: number): void {
    const rest = this.#match(WORD) ?? this.#match(DIGITS);
    if (rest === undefined) return;
    const remedy = 'put a string in quotes, and a key that starts with a digit in backticks';
    throw createTextError(this.text, start, { expected: 'a number', got: `${written}${rest}`, remedy });
  }

  /** A quoted text; the quote itself is written twice. */
  #readQuoted(quote: string): string {
    const start = this.#offset;
    const parts: string[] = [];
    for (let from = start + 1; ; ) {
      const end = this.text.indexOf(quote, from);
      if (end === -1) {
        const remedy = `write ${quote} at the end, and ${quote}${quote} for ${quote} inside`;
        throw createTextError(this.text, start, { expected: `a closing ${quote}`, got: 'the end of the text', remedy });
      }
      parts.push(this.text.slice(from, end));
      this.#offset = end + 1;
      if (this.text[end + 1] !== quote) break;
      parts.push(quote);
      from = end + 2;
    }
    const value = parts.join('');
    const fault = findTextFault(value);
    if (fault !== undefined) throw createTextError(this.text, start, { ...fault, got: JSON.stringify(value) });
    return value;
  }

  #readVariable(): string {
    const start = this.#offset;
    if (this.text.startsWith(VARIABLE, start)) {
      this.#offset += VARIABLE.length;
      if (this.text[this.#offset] === '`') return this.#readQuoted('`');
      const name = this.#match(WORD);
      if (name !== undefined) return name;
    }
    const got = /^\S{0,40}/.exec(this.text.slice(start, start + 40))?.[0] ?? '$';
    const remedy = 'name a field of the query, as $query.channel';
    throw createTextError(this.text, start, { expected: 'a variable of the query', got, remedy });
  }
}
