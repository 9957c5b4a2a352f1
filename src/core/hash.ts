import { createHash } from 'node:crypto';

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${value}"`;
  return JSON.stringify(value) ?? 'null';
}

/** SHA-256 in hex of bytes, a text, or a plain value in canonical JSON (keys sorted). Every key and identity of the project comes from here. */
export function hashOf(value: unknown): string {
  const hash = createHash('sha256');
  if (ArrayBuffer.isView(value)) hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  else hash.update(typeof value === 'string' ? value : canonical(value));
  return hash.digest('hex');
}
