import { expect } from 'vitest';

const isTypedArray = (value: unknown): value is Uint8Array => ArrayBuffer.isView(value) && !(value instanceof DataView);

const viewBytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => Buffer.from(buffer, byteOffset, byteLength);

/**
 * True for typed arrays of one class with the same bytes. Undefined for everything else, which vitest compares itself,
 * number by number: a hundred times slower.
 */
export function compareBytes(a: unknown, b: unknown): true | undefined {
  if (!isTypedArray(a) || !isTypedArray(b) || a.constructor !== b.constructor) return undefined;
  return viewBytes(a).equals(viewBytes(b)) ? true : undefined;
}

// Files of a worker share the testers, and each of them runs this module.
const known = globalThis as { comparesBytes?: true };
if (!known.comparesBytes) expect.addEqualityTesters([compareBytes]);
known.comparesBytes = true;
