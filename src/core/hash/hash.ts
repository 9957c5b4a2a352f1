import { createHash, type Hash } from 'node:crypto';
import * as zlib from 'node:zlib';
import { ValidationError } from '../errors/errors.ts';
import type { Steps } from '../terminal/progress.ts';

/** The remainder of each byte under the polynomial of zip and gzip. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

/** The CRC-32 by a table, for Node before 20.15. */
export function computeCrc32ByTable(bytes: Uint8Array, previous = 0): number {
  let crc = previous ^ 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (REMAINDERS[(crc ^ byte) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}

/**
 * The CRC-32 of bytes, as in zip and gzip (ISO 3309). Uses `node:zlib` where it has one: it is ten times as fast as the
 * table.
 *
 * @param previous the CRC-32 of the bytes before these.
 */
export const computeCrc32: (bytes: Uint8Array, previous?: number) => number =
  (zlib as { crc32?: typeof computeCrc32ByTable }).crc32 ?? computeCrc32ByTable;

/** The same bytes, not copied. */
export function viewAsBytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/**
 * The entries of a Map, a Date or an instance of a class do not represent its content: different values would have one
 * hash.
 */
function assertPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return;
  throw new ValidationError(`only plain objects have a hash: ${value.constructor.name}; convert it to a plain object`);
}

/**
 * The text of which {@link computeHash} is the hash: JSON with sorted keys.
 *
 * @throws ValidationError for an object that is not plain.
 */
export function canonicalise(value: unknown): string {
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
 * SHA-256 in hex of bytes, a text, or a plain value in canonical JSON (keys sorted). Every key and identity of the
 * project comes from here.
 *
 * @throws ValidationError for an object that is not plain.
 */
export function computeHash(value: unknown): string {
  const hash = createHash('sha256');
  if (ArrayBuffer.isView(value)) hash.update(viewAsBytes(value));
  else hash.update(typeof value === 'string' ? value : canonicalise(value));
  return hash.digest('hex');
}

/**
 * {@link computeHash} of an object with long lists, a step an item. Takes memory for one item.
 *
 * @throws ValidationError for an object that is not plain.
 */
export function* computeHashInSteps(value: Readonly<Record<string, unknown>>): Steps<string> {
  const hash = createHash('sha256');
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  keys.sort((a, b) => (a < b ? -1 : 1));
  for (const [k, key] of keys.entries()) {
    hash.update(`${k === 0 ? '{' : ','}${JSON.stringify(key)}:`);
    const item = value[key];
    if (Array.isArray(item)) yield* hashItems(hash, item);
    else hash.update(canonicalise(item));
  }
  hash.update(keys.length === 0 ? '{}' : '}');
  return hash.digest('hex');
}

function* hashItems(hash: Hash, items: readonly unknown[]): Steps<void> {
  for (const [i, item] of items.entries()) {
    hash.update(`${i === 0 ? '[' : ','}${canonicalise(item)}`);
    yield;
  }
  hash.update(items.length === 0 ? '[]' : ']');
}

/** {@link computeHash} of the bytes of all parts, one after the other. */
export function computeHashOfParts(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** Characters that are handed to a hash at once. */
const HASHED_AT_ONCE = 2 ** 16;

/** {@link computeHash} of a list that grows. */
export class ListHash {
  readonly #hash = createHash('sha256');
  #text = '[';
  #separator = '';

  /** @throws ValidationError for an object that is not plain. */
  add(item: unknown): void {
    this.#text += this.#separator + canonicalise(item);
    this.#separator = ',';
    if (this.#text.length < HASHED_AT_ONCE) return;
    this.#hash.update(this.#text);
    this.#text = '';
  }

  /** The hash of the items so far. */
  read(): string {
    return this.#hash.copy().update(`${this.#text}]`).digest('hex');
  }
}
