import serialise from 'canonicalize';
import { ValidationError } from '../core/errors.ts';
import { formatPath } from '../core/validation.ts';

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

/** @throws ValidationError at the first value without a canonical form. */
function assertCanonical(value: unknown, path: readonly PropertyKey[]): void {
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

/**
 * A value as canonical JSON: no spaces, keys in the order of their UTF-16 code units, numbers as ECMAScript writes them. What JSON would drop or change
 * (undefined, NaN, a hole of a list, a Date) is refused. Source: rfc8785.
 *
 * @throws ValidationError for a value that JSON does not have, or a text that is no Unicode.
 */
export function formatCanonicalJson(value: unknown): string {
  assertCanonical(value, []);
  return serialise(value) as string;
}
