import { InvalidFilterError } from '../../core/errors/errors.ts';
import { shortenToExcerpt } from '../../core/validation/validation.ts';
import {
  type FieldValue,
  type Filter,
  type FilterValue,
  type FilterVariables,
  isVariable,
  listFilterVariables,
} from './filter.ts';

/**
 * What is wrong with a text that no table can hold: half a surrogate pair has no UTF-8 form, and Postgres has no
 * U+0000.
 */
export function findTextFault(text: string): { expected: string; remedy: string } | undefined {
  if (!/\p{Cs}/u.test(text) && !text.includes('\0')) return undefined;
  return { expected: 'well-formed Unicode without U+0000', remedy: 'remove half surrogate pairs and U+0000' };
}

/** What is wrong with a number that no attribute may have. */
export function findNumberFault(value: number): { expected: string; remedy: string } | undefined {
  if (!Number.isFinite(value)) return { expected: 'a finite number', remedy: 'compare with a finite number' };
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined;
  return {
    expected: `an integer of at most ${Number.MAX_SAFE_INTEGER} in magnitude`,
    remedy: 'write it as a string, here and in the attribute',
  };
}

function findValueFault(value: unknown): { expected: string; remedy: string } | undefined {
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return findNumberFault(value);
  if (typeof value === 'string') return findTextFault(value);
  const expected = 'a string, a number, a boolean, a list of strings or null';
  if (!Array.isArray(value)) return { expected, remedy: 'pass another value' };
  for (const item of value) {
    const fault = typeof item === 'string' ? findTextFault(item) : { expected, remedy: 'pass a list of strings' };
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The values of the variables that a filter reads, by name. */
export type ResolvedVariables = ReadonlyMap<string, FieldValue>;

/**
 * The values of the variables of a filter, all of them checked.
 *
 * @throws InvalidFilterError if a filter with variables has no values of variables, and for a value that no attribute
 *   may have.
 */
export function resolveVariables(filter: Filter, variables: FilterVariables | undefined): ResolvedVariables {
  const resolved = new Map<string, FieldValue>();
  for (const name of listFilterVariables(filter)) {
    const place = `$query.${name}`;
    if (variables === undefined) {
      const remedy = 'pass the variables beside the filter';
      throw new InvalidFilterError({ place, expected: 'values of variables', got: 'none', remedy });
    }
    const value = Object.hasOwn(variables, name) ? (variables[name] ?? null) : null;
    const fault = findValueFault(value);
    if (fault !== undefined) throw new InvalidFilterError({ place, ...fault, got: shortenToExcerpt(value) });
    resolved.set(name, value);
  }
  return resolved;
}

/** The value of a literal, or of a variable. */
export function resolveValue(value: FilterValue, variables: ResolvedVariables): FieldValue {
  return isVariable(value) ? (variables.get(value.query) ?? null) : value;
}

/** Describes what is wrong with a field of a filter: a text is searched, not filtered. */
export function findFieldFault(field: string): { expected: string; remedy: string } | undefined {
  if (field !== 'text') return findTextFault(field);
  return {
    expected: 'a field that filters read',
    remedy: 'filter by an attribute or by id, conversationId, parentId, timestamp, author or channel',
  };
}

/**
 * Describes what is wrong with a value that is compared with a field: a timestamp is a number, so that a date in quotes
 * would never match.
 */
export function findOperandFault(field: string, value: FilterValue): { expected: string; remedy: string } | undefined {
  if (field !== 'timestamp' || value === null || isVariable(value) || typeof value === 'number') return undefined;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  const remedy = Number.isNaN(time) ? 'write a number' : `write ${time}`;
  return { expected: 'a timestamp in milliseconds since 1970-01-01 UTC', remedy };
}
