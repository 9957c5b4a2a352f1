import { type FilterFault, InvalidFilterError } from '../../core/errors/errors.ts';
import { findNearestWord } from '../../core/validation/validation.ts';
import {
  exceedsFilterDepth,
  type Filter,
  type FilterComparison,
  type FilterValue,
  findFieldFault,
  findNumberFault,
  findOperandFault,
  findTextFault,
  MAX_FILTER_DEPTH,
} from './filter.ts';

/** A token of the text of a filter: `start` and `end` are places in the text. */
type FilterToken = { readonly start: number; readonly end: number } & (
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
/** Digits and points, which after a number show that it is none: `01`, `1.`. */
const DIGITS = /[\d.]+/y;
const SYMBOL = /!=|<=|>=|<>|==|&&|\|\||[=<>()[\],!]/y;
const SPACE = /\s+/y;
const VARIABLE = '$query.';

/** The most characters of its line that an error in a text shows, before the place and after it. */
const EXCERPT_SIDE = 60;

const KEYWORDS = ['and', 'or', 'not', 'in', 'between', 'contains', 'exists', 'true', 'false', 'null'] as const;

/** True if a key may be written without backticks. */
export function isPlainKey(key: string): boolean {
  WORD.lastIndex = 0;
  const isWord = WORD.exec(key)?.[0] === key;
  return isWord && !(KEYWORDS as readonly string[]).includes(key.toLowerCase());
}

/** The place of an error in a text: line, column in characters, and the line with a caret below. */
function createTextError(
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
class FilterTokens {
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

const COMPARISONS: readonly string[] = ['=', '!=', '<', '<=', '>', '>='];
const OPERATORS = 'an operator: =, !=, <, <=, >, >=, in, between or contains';
const CONDITION = 'a condition, as channel = $query.channel';

/** What other languages write, and what to write here. */
const HABITS: Readonly<Record<string, string>> = {
  '==': '=',
  '<>': '!=',
  '&&': 'and',
  '||': 'or',
  '!': 'not',
  is: '= null or exists',
  like: 'contains',
};

function describeToken(text: string, token: FilterToken): string {
  if (token.kind === 'end') return 'the end of the text';
  const written = text.slice(token.start, token.end);
  return written.length > 40 ? `${written.slice(0, 37)}...` : written;
}

/** Recursive descent: one function for each rule of the grammar, one token of look-ahead. */
class FilterParser {
  readonly #tokens: FilterTokens;
  #token: FilterToken;
  #depth = 0;
  /** Where the nots and parentheses are deepest. */
  #deepest = { depth: 0, start: 0 };

  constructor(text: string) {
    this.#tokens = new FilterTokens(text);
    this.#token = this.#tokens.next();
  }

  parseAll(): Filter {
    const filter = this.#parseOr();
    if (this.#token.kind === 'end') {
      if (exceedsFilterDepth(filter)) throw this.#createDepthError();
      return filter;
    }
    throw this.#createError('and, or, or the end of the text', ['and', 'or'], 'join two conditions by and or or');
  }

  /** or := and ('or' and)* */
  #parseOr(): Filter {
    return this.#parseChain('or', () => this.#parseChain('and', () => this.#parseUnary()));
  }

  #parseChain(op: 'and' | 'or', parseOne: () => Filter): Filter {
    const first = parseOne();
    if (!this.#isKeyword(op)) return first;
    const of = [first];
    while (this.#acceptKeyword(op)) of.push(parseOne());
    return { op, of };
  }

  /** unary := 'not' unary | '(' or ')' | exists | condition */
  #parseUnary(): Filter {
    const opening = this.#token;
    if (this.#acceptKeyword('not')) return this.#nest(opening, () => ({ op: 'not', of: this.#parseUnary() }));
    if (this.#acceptSymbol('(')) {
      const filter = this.#nest(opening, () => this.#parseOr());
      if (!this.#acceptSymbol(')')) throw this.#createError('and, or, or )', ['and', 'or'], 'close the parenthesis');
      return filter;
    }
    if (this.#acceptKeyword('exists')) return this.#parseExists();
    return this.#parseCondition();
  }

  /** exists := key | '(' key ')' */
  #parseExists(): Filter {
    const isEnclosed = this.#acceptSymbol('(');
    const field = this.#parseField('a key after exists');
    if (isEnclosed && !this.#acceptSymbol(')')) throw this.#createError(')', [], 'close the parenthesis');
    return { op: 'exists', field };
  }

  #nest(opening: FilterToken, parseInner: () => Filter): Filter {
    this.#depth += 1;
    if (this.#depth > this.#deepest.depth) this.#deepest = { depth: this.#depth, start: opening.start };
    if (this.#depth >= MAX_FILTER_DEPTH) throw this.#createDepthError();
    const filter = parseInner();
    this.#depth -= 1;
    return filter;
  }

  /** condition := key operator value | key 'not'? ('in' list | 'between' value 'and' value | 'contains' value) */
  #parseCondition(): Filter {
    const field = this.#parseField(CONDITION);
    const token = this.#token;
    if (token.kind === 'symbol' && COMPARISONS.includes(token.value)) {
      this.#advance();
      return { op: token.value as FilterComparison, field, value: this.#parseValue(field) };
    }
    if (this.#acceptKeyword('not')) return { op: 'not', of: this.#parseWordCondition(field) };
    return this.#parseWordCondition(field);
  }

  #parseWordCondition(field: string): Filter {
    if (this.#acceptKeyword('in')) return { op: 'in', field, values: this.#parseList(field) };
    if (this.#acceptKeyword('contains')) return { op: 'contains', field, value: this.#parseHeldString() };
    if (!this.#acceptKeyword('between')) {
      throw this.#createError(OPERATORS, ['in', 'between', 'contains'], `write an operator after ${field}`);
    }
    const low = this.#parseValue(field);
    if (!this.#acceptKeyword('and')) throw this.#createError('and', ['and'], 'write between LOW and HIGH');
    return { op: 'between', field, low, high: this.#parseValue(field) };
  }

  #parseField(expected: string): string {
    const token = this.#token;
    const isKey = token.kind === 'key' || (token.kind === 'word' && !this.#isReserved(token.value));
    if (!isKey) throw this.#createError(expected, [], 'write a key first; put a key that is a keyword in backticks');
    const fault = findFieldFault(token.value);
    if (fault !== undefined) throw this.#createFault(token, fault);
    this.#advance();
    return token.value;
  }

  #parseList(field: string): FilterValue[] {
    const remedy = "write the values in brackets, as ['a', 'b']";
    if (!this.#acceptSymbol('[')) throw this.#createError('[', [], remedy);
    const values: FilterValue[] = [];
    if (this.#acceptSymbol(']')) return values;
    do values.push(this.#parseValue(field));
    while (this.#acceptSymbol(','));
    if (!this.#acceptSymbol(']')) throw this.#createError(', or ]', [], remedy);
    return values;
  }

  #parseHeldString(): string | { readonly query: string } {
    const token = this.#token;
    if (token.kind !== 'string' && token.kind !== 'variable') {
      throw this.#createError('a string or a variable', [], 'put the string after contains in quotes');
    }
    this.#advance();
    return token.kind === 'string' ? token.value : { query: token.value };
  }

  #parseValue(field: string): FilterValue {
    const token = this.#token;
    const value = this.#readValue(token);
    const fault = findOperandFault(field, value);
    if (fault !== undefined) throw this.#createFault(token, fault);
    this.#advance();
    return value;
  }

  #readValue(token: FilterToken): FilterValue {
    if (token.kind === 'string' || token.kind === 'number') return token.value;
    if (token.kind === 'variable') return { query: token.value };
    const word = token.kind === 'word' ? token.value.toLowerCase() : undefined;
    if (word === 'null') return null;
    if (word === 'true' || word === 'false') return word === 'true';
    const remedy = token.kind === 'word' ? `put a string in quotes: '${token.value}'` : 'write a value';
    throw this.#createError('a string, a number, true, false, null or a variable', [], remedy);
  }

  #advance(): void {
    this.#token = this.#tokens.next();
  }

  #isReserved(word: string): boolean {
    return (KEYWORDS as readonly string[]).includes(word.toLowerCase());
  }

  #isKeyword(word: string): boolean {
    return this.#token.kind === 'word' && this.#token.value.toLowerCase() === word;
  }

  #acceptKeyword(word: string): boolean {
    if (!this.#isKeyword(word)) return false;
    this.#advance();
    return true;
  }

  #acceptSymbol(symbol: string): boolean {
    if (this.#token.kind !== 'symbol' || this.#token.value !== symbol) return false;
    this.#advance();
    return true;
  }

  #createDepthError(): InvalidFilterError {
    const expected = `at most ${MAX_FILTER_DEPTH} levels`;
    const fault = { expected, got: 'a deeper tree', remedy: 'write fewer nots and parentheses' };
    return createTextError(this.#tokens.text, this.#deepest.start, fault);
  }

  #createError(expected: string, words: readonly string[], remedy: string): InvalidFilterError {
    const token = this.#token;
    const got = describeToken(this.#tokens.text, token);
    const habit = Object.hasOwn(HABITS, got.toLowerCase()) ? HABITS[got.toLowerCase()] : undefined;
    const nearest = habit ?? (token.kind === 'word' ? findNearestWord(token.value, words) : undefined);
    const advice = nearest === undefined ? remedy : `did you mean ${nearest}?`;
    return this.#createFault(token, { expected, got, remedy: advice });
  }

  #createFault(token: FilterToken, fault: { expected: string; remedy: string; got?: string }): InvalidFilterError {
    const got = describeToken(this.#tokens.text, token);
    return createTextError(this.#tokens.text, token.start, { got, ...fault });
  }
}

/**
 * The tree of a filter from its text, as `channel = $query.channel and outcome >= 0.5`. `and` binds more tightly than
 * `or`, `not` more tightly than both; the time is linear in the length of the text.
 *
 * @throws InvalidFilterError with the line and the column, what was expected there, and the nearest word.
 */
export function parseFilter(text: string): Filter {
  return new FilterParser(text).parseAll();
}
