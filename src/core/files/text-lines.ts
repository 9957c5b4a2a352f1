import { closeSync, openSync, readSync } from 'node:fs';
import { StorageError, ValidationError } from '../errors/errors.ts';

/** Bytes of a line, far above any row of a format that is read: a longer line has lost its line feed. */
export const LONGEST_LINE = 2 ** 26;

const CHUNK_BYTES = 2 ** 20;
const LINE_FEED = 10;
const CARRIAGE_RETURN = '\r';
const BYTE_ORDER_MARK = '\ufeff';

/** A line of a file, without its end and without a byte order mark. */
export interface TextLine {
  /** From 1. */
  readonly number: number;
  /** `source:number`, for errors. */
  readonly where: string;
  readonly text: string;
}

/** @param size what is known of it: the whole length, or what was read */
function createLengthError(where: string, size: string, most: number, unit: string): ValidationError {
  const limit = `${most.toLocaleString('en-US')} ${unit}`;
  return new ValidationError(
    `line at ${where} is too long: expected at most ${limit}, got ${size}; end each row with a line feed, or divide the row`,
    { where, most },
  );
}

/** A line of a text with its place. */
function locateLine(source: string, number: number, line: string): TextLine {
  const begun = number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
  const text = begun.endsWith(CARRIAGE_RETURN) ? begun.slice(0, -1) : begun;
  return { number, where: `${source}:${number}`, text };
}

/**
 * Splits a stream of bytes, UTF-8, into its lines. Takes time linear in the bytes, and memory for one line and one
 * chunk: a line is refused as soon as more of it than `longest` was read, whether it ends or not.
 */
class LineSplitter {
  readonly #source: string;
  readonly #longest: number;
  /** The beginning of the open line. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #count = 0;

  constructor(source: string, longest: number) {
    this.#source = source;
    this.#longest = longest;
  }

  /**
   * The lines that end in this chunk, whose bytes must not change afterwards.
   *
   * @throws ValidationError for a line that is too long.
   */
  *push(chunk: Uint8Array): Generator<TextLine> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#add(chunk.subarray(start, end), true);
      yield this.#take();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start), false);
  }

  /** The last line, if it lacks its line feed. */
  *finish(): Generator<TextLine> {
    if (this.#bytes > 0) yield this.#take();
  }

  #add(piece: Uint8Array, isEnd: boolean): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#longest) {
      const where = `${this.#source}:${this.#count + 1}`;
      throw createLengthError(
        where,
        `${this.#bytes.toLocaleString('en-US')}${isEnd ? '' : ' or more'}`,
        this.#longest,
        'bytes',
      );
    }
    this.#pieces.push(piece);
  }

  #take(): TextLine {
    const [first] = this.#pieces as [Uint8Array];
    const bytes = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#bytes);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    this.#pieces = [];
    this.#bytes = 0;
    return locateLine(this.#source, ++this.#count, text);
  }
}

/** The options of {@link readLines}. */
interface ReadOptions {
  /** The name of the file in errors; by default its path. */
  readonly source?: string;
  /** Bytes of the longest line; by default {@link LONGEST_LINE}. */
  readonly longest?: number;
  /** Receives the number of bytes that were read so far. */
  readonly onRead?: (bytes: number) => void;
}

/** The chunks of a file, each in memory of its own. */
function* readChunks(path: string): Generator<Uint8Array> {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      let length: number;
      try {
        length = readSync(file, chunk, 0, CHUNK_BYTES, null);
      } catch (error) {
        throw new StorageError('read', path, { cause: error });
      }
      if (length === 0) return;
      yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

/**
 * Reads the lines of a file, which may be longer than a text of Node can be.
 *
 * @throws StorageError for a file that cannot be read; ValidationError naming the line of more than `longest` bytes.
 */
export function* readLines(
  path: string,
  { source = path, longest = LONGEST_LINE, onRead = () => {} }: ReadOptions = {},
): Generator<TextLine> {
  const splitter = new LineSplitter(source, longest);
  let bytes = 0;
  for (const chunk of readChunks(path)) {
    yield* splitter.push(chunk);
    bytes += chunk.length;
    onRead(bytes);
  }
  yield* splitter.finish();
}

/** The lines of a stream of bytes, as {@link readLines}. @throws ValidationError for a line that is too long. */
export async function* streamLines(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  longest = LONGEST_LINE,
): AsyncGenerator<TextLine> {
  const splitter = new LineSplitter(source, longest);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.finish();
}

/**
 * The lines of a text that is in memory already.
 *
 * @throws ValidationError naming the line of more than `longest` characters.
 */
export function* splitLines(text: string, source: string, longest = LONGEST_LINE): Generator<TextLine> {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? text.length : end);
    const where = `${source}:${++number}`;
    if (line.length > longest)
      throw createLengthError(where, line.length.toLocaleString('en-US'), longest, 'characters');
    yield locateLine(source, number, line);
    start = end < 0 ? text.length : end + 1;
  }
}

/**
 * Reads a file of one JSON row a line. The last line may lack its line feed.
 *
 * @param parse parses a line, given its place: `path:line`.
 * @throws StorageError for a file that cannot be read; ValidationError for a line that is too long; as `parse` does.
 */
export function readJsonLines<T>(path: string, parse: (line: string, where: string) => T): T[] {
  return Array.from(readLines(path), ({ text, where }) => parse(text, where));
}

/** A line of a file in columns. */
interface Line {
  /** `source:number`, for errors. */
  readonly at: string;
  readonly fields: readonly string[];
}

/**
 * The lines of a file with `width` columns each; empty lines are skipped.
 *
 * @throws ValidationError naming the line with another number of columns, or that is too long.
 */
export function parseLines(text: string, source: string, width: number): Line[] {
  const filled: Line[] = [];
  for (const { where: at, text: line } of splitLines(text, source)) {
    const fields = line.trim().split(/[ \t]+/);
    if (fields[0] === '') continue;
    if (fields.length !== width)
      throw new ValidationError(
        `expected ${width} columns at ${at}, got ${fields.length}: ${fields.join(' ')}; correct the line`,
        {
          at,
        },
      );
    filled.push({ at, fields });
  }
  return filled;
}
