import { expect, test } from 'vitest';
import { computeCrc32 } from './crc32.ts';

test.each([
  ['', 0],
  ['123456789', 0xcbf43926], // the check value of the catalogue of CRCs
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('the CRC-32 of %j', (text, expected) => {
  expect(computeCrc32(Buffer.from(text))).toBe(expected);
});
