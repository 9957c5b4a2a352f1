import * as zlib from 'node:zlib';

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
 * The CRC-32 of bytes, as in zip and gzip (ISO 3309). Uses `node:zlib` where it has one: it is ten times as fast as the table.
 *
 * @param previous the CRC-32 of the bytes before these.
 */
export const computeCrc32: (bytes: Uint8Array, previous?: number) => number =
  (zlib as { crc32?: typeof computeCrc32ByTable }).crc32 ?? computeCrc32ByTable;
