import { createHash } from 'node:crypto';
import { ValidationError } from './errors.ts';

function viewAsBytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** The entries of a Map, a Date or an instance of a class do not represent its content: different values would have one hash. */
function assertPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return;
  throw new ValidationError(`only plain objects have a hash: ${value.constructor.name}; convert it to a plain object`);
}

function canonicalise(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `"bytes ${createHash('sha256').update(viewAsBytes(value)).digest('hex')}"`;
  if (Array.isArray(value)) return `[${value.map(canonicalise).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    assertPlain(value);
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalise(item)}`).join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${value}"`;
  return JSON.stringify(value) ?? 'null';
}

/**
 * SHA-256 in hex of bytes, a text, or a plain value in canonical JSON (keys sorted). Every key and identity of the project comes from here.
 *
 * @throws ValidationError for an object that is not plain.
 */
export function computeHash(value: unknown): string {
  const hash = createHash('sha256');
  if (ArrayBuffer.isView(value)) hash.update(viewAsBytes(value));
  else hash.update(typeof value === 'string' ? value : canonicalise(value));
  return hash.digest('hex');
}
