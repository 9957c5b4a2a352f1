import type { Readable } from 'node:stream';
import { type Entry, openPromise } from 'yauzl';
import { computeCrc32 } from '../../core/crc32.ts';
import { StorageError } from '../../core/errors.ts';
import { formatMegabytes, LARGEST_FILE, refuseLargeFile } from './file-size.ts';

/** An entry that is this many times as large as its compressed form is refused: text compresses to a tenth. */
const LARGEST_RATIO = 200;
/** Smaller entries may compress to anything. */
const SMALL_BYTES = 2 ** 24;
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

/** @throws StorageError for a file that is no zip file. */
export async function openZip(path: string): Promise<ZipArchive> {
  const archive = await runNamingEntry(path, () =>
    openPromise(path, { autoClose: false, lazyEntries: true, validateEntrySizes: true }),
  );
  const entries = new Map<string, Entry>();
  let bytesRead = 0;
  try {
    await runNamingEntry(path, async () => {
      for await (const entry of archive.eachEntry())
        if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
    });
  } catch (error) {
    archive.close();
    throw error;
  }
  const read = async (name: string): Promise<Uint8Array> => {
    const entry = entries.get(name) as Entry;
    const where = `${path}/${name}`;
    bytesRead += entry.uncompressedSize;
    refuseBomb(entry, where, bytesRead);
    const bytes = await runNamingEntry(where, async () => collect(await archive.openReadStreamPromise(entry), entry));
    if (computeCrc32(bytes) !== entry.crc32) throw createDamageError(where, new Error('its checksum is another one'));
    return bytes;
  };
  return { names: [...entries.keys()], read, close: () => archive.close() };
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
