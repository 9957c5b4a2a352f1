import { expect, test } from 'vitest';
import { computeCrc32, computeCrc32ByTable } from './crc32.ts';

test.each([
  ['', 0],
  ['123456789', 0xcbf43926], // the check value of the catalogue of CRCs
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('the CRC-32 of %j, whole and in parts', (text, expected) => {
  for (const compute of [computeCrc32, computeCrc32ByTable]) {
    expect(compute(Buffer.from(text))).toBe(expected);
    expect(compute(Buffer.from(text.slice(3)), compute(Buffer.from(text.slice(0, 3))))).toBe(expected);
  }
});
