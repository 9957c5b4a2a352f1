import type { InvalidFilterError } from '../../core/errors/errors.ts';
import { findNearestWord } from '../../core/validation/validation.ts';
import {
  exceedsFilterDepth,
  type Filter,
  type FilterComparison,
  type FilterValue,
  MAX_FILTER_DEPTH,
} from './filter.ts';
import { createTextError, type FilterToken, FilterTokens, KEYWORDS } from './filter-tokens.ts';
import { findFieldFault, findOperandFault } from './filter-values.ts';

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
