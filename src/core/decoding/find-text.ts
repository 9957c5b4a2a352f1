import { closeSync, createReadStream, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createGunzip } from 'node:zlib';
import { StorageError, ValidationError } from '../errors/errors.ts';
import { openParquet, unpackZstd } from './decoder.ts';

/** Bytes in which a text may be written. */
export interface TextForm {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The fewest characters of base64 that are looked for: shorter ones are found by chance. */
const SHORTEST_BASE64 = 8;

/** A text in base64 as part of a longer one, after bytes of a number that 3 does not divide. */
function encodeInnerBase64(text: Buffer, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), text]).toString('base64');
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + text.byteLength) * 8) / 6));
}

const escapeJson = (text: string) => JSON.stringify(text).slice(1, -1);
const escapeBeyondAscii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * The forms in which a file may have a text: UTF-8, UTF-16, JSON, JSON within JSON, and base64 (texts of 7 bytes or
 * more). Upper and lower case are distinguished.
 *
 * @throws ValidationError for an empty text.
 */
export function listTextForms(text: string): TextForm[] {
  if (text === '') throw new ValidationError('text to look for is empty; pass some characters of it', { text });
  const utf8 = Buffer.from(text);
  const json = escapeJson(text);
  const inner = [0, 1, 2].map((before) => encodeInnerBase64(utf8, before));
  const base64 = inner.filter((encoded) => encoded.length >= SHORTEST_BASE64);
  const written: readonly (readonly [string, readonly string[]])[] = [
    ['JSON', [json, escapeBeyondAscii(json), escapeJson(json), escapeJson(escapeBeyondAscii(json))]],
    ['base64', [...base64, ...base64.map((encoded) => encoded.replaceAll('+', '-').replaceAll('/', '_'))]],
  ];
  const forms: TextForm[] = [
    { name: 'UTF-8', bytes: utf8 },
    { name: 'UTF-16LE', bytes: Buffer.from(text, 'utf16le') },
    { name: 'UTF-16BE', bytes: Buffer.from(text, 'utf16le').swap16() },
    ...written.flatMap(([name, encoded]) => encoded.map((one) => ({ name, bytes: Buffer.from(one) }))),
  ];
  const seen = new Set<string>();
  return forms.filter(({ bytes }) => {
    const key = bytes.toString('latin1');
    return !seen.has(key) && seen.add(key);
  });
}

/** A place of a text in a file. */
export interface FoundText {
  /** Within the folder. */
  readonly path: string;
  /** The name of the form, and whether the file is compressed. */
  readonly form: string;
  /**
   * Bytes before it, of the decompressed content if the file is compressed; null: in the name of the file, or in a row
   * that the form names.
   */
  readonly offset: number | null;
}

/** The result of a search of every file of a folder. */
export interface TextSearch {
  readonly files: number;
  /** Bytes of the files, before any is decompressed. */
  readonly bytes: number;
  readonly found: readonly FoundText[];
  /** Files whose content cannot be read, and why: links, and compression that is not known here. */
  readonly unread: readonly { readonly path: string; readonly reason: string }[];
}

/** Looks for forms in bytes that come in parts. */
class FormFinder {
  readonly #forms: readonly TextForm[];
  readonly #longest: number;
  #carried: Buffer = Buffer.alloc(0);
  #read = 0;

  constructor(forms: readonly TextForm[]) {
    this.#forms = forms;
    this.#longest = Math.max(...forms.map(({ bytes }) => bytes.byteLength));
  }

  *take(part: Uint8Array): Generator<{ readonly name: string; readonly offset: number }> {
    const carried = this.#carried.byteLength;
    const joined = Buffer.concat([this.#carried, part]);
    for (const { name, bytes } of this.#forms) {
      const first = Math.max(0, carried - bytes.byteLength + 1); // what ends before was found with the part before
      for (let at = joined.indexOf(bytes, first); at >= 0; at = joined.indexOf(bytes, at + 1))
        yield { name, offset: this.#read - carried + at };
    }
    this.#read += part.byteLength;
    this.#carried = joined.subarray(Math.max(0, joined.byteLength - this.#longest + 1));
  }
}

/** Beginnings of compressed files that are not read here. */
const COMPRESSED: readonly (readonly [beginning: Buffer, name: string])[] = [
  [Buffer.from('PARE'), 'parquet, encrypted'],
  [Buffer.from('PK\x03\x04'), 'zip'],
  [Buffer.from('BZh'), 'bzip2'],
  [Buffer.of(0xfd, 0x37, 0x7a, 0x58, 0x5a), 'xz'],
];

/** The texts and bytes within a value of a row, also the names of fields. */
function* listBytes(value: unknown): Generator<Uint8Array> {
  if (typeof value === 'string') yield Buffer.from(value);
  else if (value instanceof Uint8Array) yield value;
  else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
    for (const [name, item] of Object.entries(value)) {
      if (!Array.isArray(value)) yield Buffer.from(name);
      yield* listBytes(item);
    }
}

type FoundForm = Pick<FoundText, 'form' | 'offset'>;

/** The names of the forms that are within one of some texts. */
export function listFormsWithin(texts: readonly Uint8Array[], forms: readonly TextForm[]): string[] {
  const buffers = texts.map((text) => Buffer.from(text.buffer, text.byteOffset, text.byteLength));
  return forms.filter(({ bytes }) => buffers.some((text) => text.includes(bytes))).map(({ name }) => name);
}

async function* findInBytes(parts: AsyncIterable<Uint8Array>, forms: readonly TextForm[], suffix: string) {
  const finder = new FormFinder(forms);
  for await (const part of parts)
    for (const { name, offset } of finder.take(part)) yield { form: `${name}${suffix}`, offset };
}

async function* findInRows(path: string, forms: readonly TextForm[]): AsyncGenerator<FoundForm> {
  const file = await openParquet(path, { utf8: false });
  let row = 0;
  try {
    for await (const batch of file.readBatches())
      for (const values of batch) {
        row++;
        for (const name of listFormsWithin([...listBytes(values)], forms))
          yield { form: `${name} in row ${row} of parquet`, offset: null };
      }
  } finally {
    await file.close();
  }
}

/** Formats that are searched as they are, and decoded: beginning, name and the search of what is decoded. */
const DECODED: readonly (readonly [
  beginning: Buffer,
  name: string,
  find: (path: string, forms: readonly TextForm[]) => AsyncGenerator<FoundForm>,
])[] = [
  [
    Buffer.of(0x1f, 0x8b),
    'gzip',
    (path, forms) => findInBytes(createReadStream(path).pipe(createGunzip()), forms, ' in gzip'),
  ],
  [Buffer.of(0x28, 0xb5, 0x2f, 0xfd), 'zstd', (path, forms) => findInBytes(unpackZstd(path), forms, ' in zstd')],
  [Buffer.from('PAR1'), 'parquet', findInRows],
];

function readBeginning(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(8);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.byteLength, 0));
  } finally {
    closeSync(file);
  }
}

/** Files and links of a folder, at any depth. */
function listFiles(folder: string): { readonly path: string; readonly isFile: boolean }[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? listFiles(path) : [{ path, isFile: entry.isFile() }];
    });
}

/**
 * Looks for forms of a text in every file of a folder, byte by byte, and in the names of the files. Files of gzip and
 * zstd are searched as they are and decompressed, those of Parquet as they are and row by row. Files are read in parts.
 *
 * @throws StorageError for a folder or a file that cannot be read.
 */
export async function findText(folder: string, forms: readonly TextForm[]): Promise<TextSearch> {
  const found: FoundText[] = [];
  const unread: { path: string; reason: string }[] = [];
  let [files, bytes] = [0, 0];
  const searchFile = async (location: string, path: string) => {
    const beginning = readBeginning(location);
    const begins = ([magic]: readonly [Buffer, ...unknown[]]) => beginning.subarray(0, magic.byteLength).equals(magic);
    const take = async (all: AsyncIterable<FoundForm>) => {
      for await (const place of all) found.push({ path, ...place });
    };
    files++;
    bytes += statSync(location).size;
    await take(findInBytes(createReadStream(location), forms, ''));
    const unknown = COMPRESSED.find(begins);
    if (unknown !== undefined) unread.push({ path, reason: `its content is compressed (${unknown[1]})` });
    const [, name, find] = DECODED.find(begins) ?? [];
    if (find === undefined) return;
    try {
      await take(find(location, forms));
    } catch (error) {
      unread.push({ path, reason: `${name} cannot be decoded (${(error as Error).message})` });
    }
  };
  try {
    for (const { path: location, isFile } of listFiles(folder)) {
      const path = relative(folder, location);
      const named = forms.find((form) => path.includes(form.bytes.toString('utf8')));
      if (named !== undefined) found.push({ path, form: `${named.name} in its name`, offset: null });
      if (isFile) await searchFile(location, path);
      else unread.push({ path, reason: 'it is a link or no regular file' });
    }
  } catch (error) {
    throw error instanceof StorageError ? error : new StorageError('read', folder, { cause: error });
  }
  return { files, bytes, found, unread };
}
