import { closeSync, openSync, readSync } from 'node:fs';
import { RagPlusPlusError, StorageError } from '../errors/errors.ts';
import { assertUnpackedSize, formatMegabytes } from '../files/files.ts';
import { computeCrc32 } from '../hash/hash.ts';
import { createSerialRunner } from '../values/once.ts';
import { Decoder } from './decoder.ts';
import type { ZipEntry } from './decoder-messages.ts';

/** In bytes. The longest text of JavaScript has some 537 million characters. */
export const LARGEST_FILE = 500 * 2 ** 20;

/** @throws StorageError for a file that is longer than a text can be. */
export function refuseLargeFile(bytes: number, where: string): void {
  if (bytes <= LARGEST_FILE) return;
  throw new StorageError('read', where, {
    cause: new Error(`${formatMegabytes(bytes)}, where at most ${formatMegabytes(LARGEST_FILE)} are read`),
    remedy: 'split the file, or export fewer conversations at a time',
  });
}

const LOCAL_HEADER = Buffer.from('PK\x03\x04');
/** Compression methods (APPNOTE.TXT, 4.4.5). */
const [STORED, DEFLATED] = [0, 8];
/** Bytes read from one archive, all entries together. */
const LARGEST_SUM = 2 ** 32;

/** A zip file whose entries are read one at a time, so that pictures and videos beside the texts cost nothing. */
export interface ZipArchive {
  /** Of the files, as the archive has them. */
  readonly names: readonly string[];
  /** @throws StorageError that names the entry. */
  readonly read: (name: string) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
}

/**
 * True if a file begins as a zip file with an entry does: a browser may have saved one without the ending of its name.
 */
export function isZip(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(LOCAL_HEADER.length);
    readSync(file, start, 0, start.length, 0);
    return start.equals(LOCAL_HEADER);
  } finally {
    closeSync(file);
  }
}

/** Opens a zip file, which is unpacked in a process of its own. @throws StorageError for a file that is no zip file. */
export async function openZip(path: string): Promise<ZipArchive> {
  const decoder = await runNamingEntry(path, () => Decoder.open(path));
  const entries = new Map<string, ZipEntry>();
  const repeated = new Set<string>();
  const inTurn = createSerialRunner();
  let bytesRead = 0;
  try {
    await runNamingEntry(path, async () => {
      for await (const part of decoder.ask({ ask: 'zip-entries' }))
        for (const entry of part) {
          if (entry.name.endsWith('/')) continue;
          if (entries.has(entry.name)) repeated.add(entry.name);
          entries.set(entry.name, entry);
        }
    });
  } catch (error) {
    await decoder.close();
    throw error;
  }
  const read = async (name: string): Promise<Uint8Array> => {
    const entry = entries.get(name) as ZipEntry;
    const where = `${path}/${name}`;
    if (repeated.has(name)) throw createRepeatedError(where);
    bytesRead += entry.uncompressedSize;
    refuseBomb(entry, where, bytesRead);
    refuseUnreadable(entry, where);
    const bytes = await runNamingEntry(where, () => inTurn(() => collect(decoder, entry)));
    if (computeCrc32(bytes) !== entry.crc32) throw createDamageError(where, new Error('its checksum is another one'));
    return bytes;
  };
  return { names: [...entries.keys()], read, close: () => decoder.close() };
}

/** Only one of two entries of one name would be read. Pictures are not read and may have any name. */
function createRepeatedError(where: string): StorageError {
  return new StorageError('unpack', where, {
    cause: new Error('the archive has several entries of this name'),
    remedy: 'download the file again, or unpack the archive yourself and name the folder',
  });
}

/**
 * Refuses an entry that other programs can unpack: one with a password, or of a method such as Deflate64, which Windows
 * takes for large files.
 */
function refuseUnreadable({ method, isEncrypted }: ZipEntry, where: string): void {
  if ((method === STORED || method === DEFLATED) && !isEncrypted) return;
  throw new StorageError('unpack', where, {
    cause: new Error(isEncrypted ? 'encrypted' : `compression method ${method}`),
    remedy: 'unpack the archive yourself and name the folder',
  });
}

/**
 * Refuses an entry by the sizes that it states, before anything is unpacked; yauzl stops at a byte more than stated.
 */
function refuseBomb({ compressedSize, uncompressedSize }: ZipEntry, where: string, bytesRead: number): void {
  refuseLargeFile(uncompressedSize, where);
  assertUnpackedSize(where, compressedSize, uncompressedSize, 'folder');
  if (bytesRead > LARGEST_SUM)
    throw new StorageError('unpack', where, {
      cause: new Error(`${formatMegabytes(bytesRead)} with the entries before it`),
      remedy: `unpack the archive yourself and name the folder; at most ${formatMegabytes(LARGEST_SUM)} are unpacked`,
    });
}

async function collect(decoder: Decoder, { entry, uncompressedSize }: ZipEntry): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.min(uncompressedSize, LARGEST_FILE));
  let length = 0;
  for await (const part of decoder.ask({ ask: 'zip-bytes', entry })) {
    bytes.set(part, length);
    length += part.length;
  }
  return bytes;
}

async function runNamingEntry<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RagPlusPlusError ? error : createDamageError(where, error);
  }
}

function createDamageError(where: string, cause: unknown): StorageError {
  return new StorageError('unpack', where, {
    cause,
    remedy: 'check that the path exists, or download the file again',
  });
}
