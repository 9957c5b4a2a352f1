import { isUtf8 } from 'node:buffer';
import { createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import {
  type Entry,
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  type ZipFile,
} from 'yauzl';
import type { ZipEntry } from './decoder-messages.ts';

/** Entries of one message. */
const ENTRIES = 4096;

/** Bytes read ahead. */
const WINDOW = 2 ** 18;

/** Reads a file a piece at a time: the directory of an archive has two small reads for each entry. */
class WindowReader extends RandomAccessReader {
  readonly file: number;
  readonly #path: string;
  readonly #window = Buffer.alloc(WINDOW);
  #start = 0;
  #length = 0;

  constructor(path: string) {
    super();
    this.#path = path;
    this.file = openSync(path, 'r');
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return createReadStream(this.#path, { start, end: end - 1 });
  }

  /** Calls back with the number of bytes, fewer than asked for at the end of the file. */
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytes?: number) => void,
  ): void {
    try {
      process.nextTick(callback, null, this.#copy(buffer, offset, length, position));
    } catch (error) {
      process.nextTick(callback, error);
    }
  }

  #copy(buffer: Buffer, offset: number, length: number, position: number): number {
    if (length > WINDOW) return readSync(this.file, buffer, offset, length, position);
    if (position < this.#start || position + length > this.#start + this.#length) {
      this.#start = position;
      this.#length = readSync(this.file, this.#window, 0, WINDOW, position);
    }
    const from = position - this.#start;
    return this.#window.copy(buffer, offset, from, Math.min(from + length, this.#length));
  }
}

function openZip(path: string): Promise<ZipFile> {
  const reader = new WindowReader(path);
  const options = { autoClose: false, lazyEntries: true, validateEntrySizes: true };
  return fromRandomAccessReaderPromise(reader, fstatSync(reader.file).size, options);
}

/** The bit of an entry whose name is UTF-8 (APPNOTE.TXT, 4.4.4). */
const UTF8_FLAG = 0x800;

/**
 * The name of an entry. Exports of Slack have names in UTF-8 without the flag that says so; a name that is no UTF-8 is
 * read as the standard says.
 */
function readName({ fileName, fileNameRaw, extraFields, generalPurposeBitFlag }: Entry): string {
  return isUtf8(fileNameRaw)
    ? getFileNameLowLevel(generalPurposeBitFlag | UTF8_FLAG, fileNameRaw, extraFields, false)
    : fileName;
}

function describeEntry(entry: Entry, index: number): ZipEntry {
  const { compressedSize, uncompressedSize, crc32, compressionMethod: method } = entry;
  return {
    ...{ entry: index, name: readName(entry), compressedSize, uncompressedSize, crc32, method },
    isEncrypted: entry.isEncrypted(),
  };
}

/** Answers questions about a zip file. */
export function createZipDecoder(path: string) {
  const entries: Entry[] = [];
  let archive: ZipFile | undefined;
  return {
    async *entries(): AsyncGenerator<ZipEntry[]> {
      archive = await openZip(path);
      let part: ZipEntry[] = [];
      for await (const entry of archive.eachEntry()) {
        part.push(describeEntry(entry, entries.length));
        entries.push(entry);
        if (part.length < ENTRIES) continue;
        yield part;
        part = [];
      }
      yield part;
    },
    /** yauzl stops at a byte more than the entry states. */
    async *bytes(index: number): AsyncGenerator<Uint8Array> {
      for await (const chunk of await (archive as ZipFile).openReadStreamPromise(entries[index] as Entry)) yield chunk;
    },
  };
}
