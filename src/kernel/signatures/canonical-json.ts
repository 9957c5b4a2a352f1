import serialise from 'canonicalize';
import { ValidationError } from '../../core/errors/errors.ts';
import { formatPath } from '../../core/validation/validation.ts';

const HALF_PAIR = /\p{Cs}/u;

/** Why a value has no canonical form; null if it has one itself. */
function findFault(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return HALF_PAIR.test(value) ? `half a surrogate pair: ${JSON.stringify(value)}` : null;
    case 'number':
      return Number.isFinite(value) ? null : `a number that JSON does not have: ${value}`;
    case 'boolean':
      return null;
    case 'object': {
      if (value === null || Array.isArray(value)) return null;
      const prototype: unknown = Object.getPrototypeOf(value);
      return prototype === Object.prototype || prototype === null ? null : `no plain object: ${value.constructor.name}`;
    }
    default:
      return `a value that JSON does not have: ${String(value)}`;
  }
}

/** Lists of ids are most of what is signed, and are read and written at once. */
function isTextList(value: unknown): value is readonly string[] {
  if (!Array.isArray(value)) return false;
  for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'string') return false;
  return true;
}

/** @throws ValidationError at the first value without a canonical form. */
function assertCanonical(value: unknown, path: readonly PropertyKey[]): void {
  // No pair can form across the line feed.
  if (isTextList(value) && !HALF_PAIR.test(value.join('\n'))) return;
  const fault = findFault(value);
  if (fault !== null)
    throw new ValidationError(`${formatPath(path)} is ${fault}; sign plain JSON alone`, { path: formatPath(path) });
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) assertCanonical(value[i], [...path, i]);
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value)) {
      if (HALF_PAIR.test(key)) assertCanonical(key, path);
      assertCanonical(item, [...path, key]);
    }
}

/** As the library writes it; a list of ids at once, which takes half the time. @param value without a fault. */
function write(value: unknown): string {
  if (value === null || typeof value !== 'object' || isTextList(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return serialise(value) as string;
  const keys = Object.keys(value).sort(); // by UTF-16 code units
  return `{${keys.map((key) => `${JSON.stringify(key)}:${write((value as Record<string, unknown>)[key])}`).join(',')}}`;
}

/**
 * A value as canonical JSON: no spaces, keys in the order of their UTF-16 code units, numbers as ECMAScript writes them. What JSON would drop or change
 * (undefined, NaN, a hole of a list, a Date) is refused. Source: rfc8785.
 *
 * @throws ValidationError for a value that JSON does not have, or a text that is no Unicode.
 */
export function formatCanonicalJson(value: unknown): string {
  assertCanonical(value, []);
  return write(value);
}
