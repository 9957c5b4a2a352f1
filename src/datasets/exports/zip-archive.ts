import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { type Entry, getFileNameLowLevel, openPromise } from 'yauzl';
import { computeCrc32 } from '../../core/crc32.ts';
import { StorageError } from '../../core/errors.ts';
import { formatMegabytes, LARGEST_FILE, refuseLargeFile } from './file-size.ts';

/** An entry that is this many times as large as its compressed form is refused: text compresses to a tenth. */
const LARGEST_RATIO = 200;
/** Smaller entries may compress to anything. */
const SMALL_BYTES = 2 ** 24;
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
  readonly close: () => void;
}

/** Whether a file begins as a zip file with an entry does: a browser may have saved one without the ending of its name. */
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

/** @throws StorageError for a file that is no zip file. */
export async function openZip(path: string): Promise<ZipArchive> {
  const archive = await runNamingEntry(path, () =>
    openPromise(path, { autoClose: false, lazyEntries: true, validateEntrySizes: true }),
  );
  const entries = new Map<string, Entry>();
  const repeated = new Set<string>();
  let bytesRead = 0;
  try {
    await runNamingEntry(path, async () => {
      for await (const entry of archive.eachEntry()) {
        const name = readName(entry);
        if (name.endsWith('/')) continue;
        if (entries.has(name)) repeated.add(name);
        entries.set(name, entry);
      }
    });
  } catch (error) {
    archive.close();
    throw error;
  }
  const read = async (name: string): Promise<Uint8Array> => {
    const entry = entries.get(name) as Entry;
    const where = `${path}/${name}`;
    if (repeated.has(name)) throw createRepeatedError(where);
    bytesRead += entry.uncompressedSize;
    refuseBomb(entry, where, bytesRead);
    refuseUnreadable(entry, where);
    const bytes = await runNamingEntry(where, async () => collect(await archive.openReadStreamPromise(entry), entry));
    if (computeCrc32(bytes) !== entry.crc32) throw createDamageError(where, new Error('its checksum is another one'));
    return bytes;
  };
  return { names: [...entries.keys()], read, close: () => archive.close() };
}

/** Only one of two entries of one name would be read. Pictures are not read and may have any name. */
function createRepeatedError(where: string): StorageError {
  return new StorageError('unpack', where, {
    cause: new Error('the archive has several entries of this name'),
    remedy: 'download the export again, or unpack the archive yourself and name the folder',
  });
}

/** The bit of an entry whose name is UTF-8 (APPNOTE.TXT, 4.4.4). */
const UTF8_FLAG = 0x800;

/** The name of an entry. Exports of Slack have names in UTF-8 without the flag that says so; a name that is no UTF-8 is read as the standard says. */
function readName({ fileName, fileNameRaw, extraFields, generalPurposeBitFlag }: Entry): string {
  return isUtf8(fileNameRaw)
    ? getFileNameLowLevel(generalPurposeBitFlag | UTF8_FLAG, fileNameRaw, extraFields, false)
    : fileName;
}

/** Refuses an entry that other programs can unpack: one with a password, or of a method such as Deflate64, which Windows takes for large files. */
function refuseUnreadable(entry: Entry, where: string): void {
  const isKnownMethod = entry.compressionMethod === STORED || entry.compressionMethod === DEFLATED;
  if (isKnownMethod && !entry.isEncrypted()) return;
  throw new StorageError('unpack', where, {
    cause: new Error(entry.isEncrypted() ? 'encrypted' : `compression method ${entry.compressionMethod}`),
    remedy: 'unpack the archive yourself and name the folder',
  });
}

/** Refuses an entry by the sizes that it states, before anything is unpacked; yauzl stops at a byte more than stated. */
function refuseBomb({ compressedSize, uncompressedSize }: Entry, where: string, bytesRead: number): void {
  refuseLargeFile(uncompressedSize, where);
  if (uncompressedSize > SMALL_BYTES && uncompressedSize > LARGEST_RATIO * compressedSize)
    throw new StorageError('unpack', where, {
      cause: new Error(`${formatMegabytes(uncompressedSize)} from ${formatMegabytes(compressedSize)}`),
      remedy: `unpack the archive yourself and name the folder; at most ${LARGEST_RATIO} times the compressed size is unpacked`,
    });
  if (bytesRead > LARGEST_SUM)
    throw new StorageError('unpack', where, {
      cause: new Error(`${formatMegabytes(bytesRead)} with the entries before it`),
      remedy: `unpack the archive yourself and name the folder; at most ${formatMegabytes(LARGEST_SUM)} are unpacked`,
    });
}

async function collect(stream: Readable, { uncompressedSize }: Entry): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.min(uncompressedSize, LARGEST_FILE));
  let length = 0;
  for await (const chunk of stream) {
    bytes.set(chunk as Uint8Array, length);
    length += (chunk as Uint8Array).length;
  }
  return bytes;
}

async function runNamingEntry<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw createDamageError(where, error);
  }
}

function createDamageError(where: string, cause: unknown): StorageError {
  return new StorageError('unpack', where, {
    cause,
    remedy: 'check that the path exists, or download the export again',
  });
}
