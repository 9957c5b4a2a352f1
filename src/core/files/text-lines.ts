import { ValidationError } from '../errors/errors.ts';
import { openBytes, type ReadBytes } from './files.ts';

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

/**
 * Reads the lines of a file, also of gzip, which may be longer than a text of Node can be.
 *
 * @throws StorageError for a file that cannot be read or unpacked; ValidationError naming the line of more than
 *   `longest` bytes.
 */
export function* readLines(path: string, { source = path, ...options }: ReadOptions = {}): Generator<TextLine> {
  const { read, close } = openBytes(path);
  try {
    yield* listLines(read, { source, ...options });
  } finally {
    close();
  }
}

/** The lines of what is read, as {@link readLines}. @throws ValidationError as it does; as `read` does. */
export function* listLines(
  read: ReadBytes,
  { source, longest = LONGEST_LINE, onRead = () => {} }: ReadOptions & { readonly source: string },
): Generator<TextLine> {
  const splitter = new LineSplitter(source, longest);
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let bytes = 0;
  for (let length = read(chunk); length > 0; length = read(chunk)) {
    yield* splitter.push(Buffer.from(chunk.subarray(0, length)));
    bytes += length;
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

const [TAB, RETURN, SPACE] = [9, 13, 32];
const LAST_PRINTED = 126;
const [MINUS, DOT, ZERO] = [45, 46, 48];
/** Digits of a whole number that float64 always holds, and powers of 10 up to it. */
const SAFE_DIGITS = 15;
const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/** Bytes of the block of a file that is in memory. */
const BLOCK_BYTES = 2 ** 18;

/** Reads bytes that are in memory. */
function createByteSource(bytes: Uint8Array): ReadBytes {
  let at = 0;
  return (into) => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    at += part.length;
    return part.length;
  };
}

/** Reads a text that is in memory. */
export function createTextSource(text: string): ReadBytes {
  return createByteSource(Buffer.from(text));
}

/** Reads until an array is full or the bytes end. @returns how many were read. */
function fill(into: Uint8Array, read: ReadBytes): number {
  let filled = 0;
  for (let length = -1; length !== 0 && filled < into.length; filled += length) length = read(into.subarray(filled));
  return filled;
}

/** Bytes in which a text of JSON begins. */
const SEEN_BYTES = 2 ** 16;

/** Looks at what is read. @returns whether its first character is a brace, and what reads it from its beginning. */
export function peekBrace(read: ReadBytes): { readonly isBrace: boolean; readonly read: ReadBytes } {
  const bytes = Buffer.allocUnsafeSlow(SEEN_BYTES);
  const seen = bytes.subarray(0, fill(bytes, read));
  const begin = createByteSource(seen);
  return { isBrace: /^\s*\{/.test(seen.toString('utf8')), read: (into) => begin(into) || read(into) };
}

/**
 * Reads lines with the same number of columns each, between spaces and tabs, in one pass over their bytes; a column
 * becomes a string only when asked for. Holds one block of the bytes, or the longest line. Skips empty lines.
 */
export class ColumnReader {
  readonly #read: ReadBytes;
  readonly #source: string;
  readonly #width: number;
  readonly #least: number;
  /** [width] of the columns of the line in the block. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  /** The columns of a line with other characters than those of ASCII that are printed. */
  #fields: readonly string[] | null = null;
  #block: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  /** Bytes of the block that were read. */
  #filled = 0;
  #isLast = false;
  #line = 0;
  #count = 0;
  #isPlain = true;
  /** The beginning of the line, and of the next one. */
  #start = 0;
  #next = 0;

  /**
   * @param source what errors call the bytes, usually the path of a file.
   * @param least columns of the narrowest line that is read; by default `width`.
   */
  constructor(read: ReadBytes, source: string, width: number, least = width) {
    this.#read = read;
    this.#source = source;
    this.#width = width;
    this.#least = least;
    this.#starts = new Int32Array(width);
    this.#ends = new Int32Array(width);
  }

  /** `source:number` of the line, for errors. */
  get where(): string {
    return `${this.#source}:${this.#line}`;
  }

  /**
   * Goes to the next line; false after the last one.
   *
   * @throws ValidationError naming the line with another number of columns, or that is too long; as the source does.
   */
  next(): boolean {
    for (this.#start = this.#next; ; this.#start = this.#next) {
      while (!this.#findColumns()) this.#fillBlock();
      if (this.#next === this.#start) return false;
      if (this.#next - this.#start > LONGEST_LINE) throw this.#createLongError(this.#next - this.#start);
      this.#line++;
      if (!this.#isPlain) this.#fields = this.#listFields();
      const columns = this.columns;
      if (columns > this.#width || (columns > 0 && columns < this.#least)) throw this.createWidthError();
      if (columns > 0) return true;
    }
  }

  /** Columns of the line. */
  get columns(): number {
    return this.#fields?.length ?? this.#count;
  }

  /** Moves the begun line to the front of the block, which grows if the line fills it, and reads on. */
  #fillBlock(): void {
    const begun = this.#filled - this.#start;
    if (begun > LONGEST_LINE) throw this.#createLongError(begun);
    const block = begun < this.#block.length ? this.#block : Buffer.allocUnsafeSlow(2 * begun);
    this.#block.copy(block, 0, this.#start, this.#filled);
    this.#block = block;
    this.#start = 0;
    this.#filled = begun;
    while (this.#filled < block.length && !this.#isLast) {
      const length = this.#read(block.subarray(this.#filled));
      this.#isLast = length === 0;
      this.#filled += length;
    }
  }

  #createLongError(bytes: number): ValidationError {
    const where = `${this.#source}:${this.#line + 1}`;
    return createLengthError(where, `${bytes.toLocaleString('en-US')} or more`, LONGEST_LINE, 'bytes');
  }

  /** Finds the columns and the end of the line. @returns false if the block has only its beginning. */
  #findColumns(): boolean {
    const [block, width, filled] = [this.#block, this.#width, this.#filled];
    let at = this.#start;
    let columns = 0;
    let isInside = false;
    let isPlain = true;
    for (; at < filled; at++) {
      const code = block[at]!;
      if (code === LINE_FEED) break;
      if (code > SPACE) {
        isPlain &&= code <= LAST_PRINTED;
        if (isInside) continue;
        if (columns < width) this.#starts[columns] = at;
        columns++;
        isInside = true;
      } else {
        if (isInside && columns <= width) this.#ends[columns - 1] = at;
        isInside = false;
        isPlain &&= code === SPACE || code === TAB || (code === RETURN && block[at + 1] === LINE_FEED);
      }
    }
    if (at === filled && !this.#isLast) return false;
    if (isInside && columns <= width) this.#ends[columns - 1] = at;
    this.#next = Math.min(at + 1, filled);
    this.#count = columns;
    this.#isPlain = isPlain;
    this.#fields = null;
    return true;
  }

  #listFields(): string[] {
    const end = this.#block[this.#next - 1] === LINE_FEED ? this.#next - 1 : this.#next;
    const line = locateLine(this.#source, this.#line, this.#block.toString('utf8', this.#start, end)).text.trim();
    return line === '' ? [] : line.split(/[ \t]+/);
  }

  /** An error for the line that it has not the full number of columns. */
  createWidthError(): ValidationError {
    const at = this.where;
    const fields = this.#listFields();
    return new ValidationError(
      `expected ${this.#width} columns at ${at}, got ${fields.length}: ${fields.join(' ')}; correct the line`,
      { at },
    );
  }

  /** The text of a column of the line. */
  get(column: number): string {
    return this.#fields?.[column] ?? this.#block.toString('latin1', this.#starts[column], this.#ends[column]);
  }

  /** Calls a function with the bytes of a column: those from `start` to `end`, which the next line replaces. */
  useBytes<T>(column: number, use: (bytes: Uint8Array, start: number, end: number) => T): T {
    if (this.#fields === null) return use(this.#block, this.#starts[column]!, this.#ends[column]!);
    const bytes = Buffer.from(this.get(column));
    return use(bytes, 0, bytes.length);
  }

  /** True if a column has this text. */
  has(column: number, value: string): boolean {
    if (this.#fields !== null) return this.#fields[column] === value;
    const start = this.#starts[column]!;
    if (this.#ends[column]! - start !== value.length) return false;
    for (let i = 0; i < value.length; i++) if (this.#block[start + i] !== value.charCodeAt(i)) return false;
    return true;
  }

  /** The number that a column states, as `Number` reads it; NaN for none. */
  getNumber(column: number): number {
    if (this.#fields !== null) return Number(this.get(column));
    const [block, end] = [this.#block, this.#ends[column]!];
    let at = this.#starts[column]!;
    const isNegative = block[at] === MINUS;
    if (isNegative) at++;
    let [whole, digits, fraction] = [0, 0, -1];
    for (; at < end; at++) {
      const digit = block[at]! - ZERO;
      if (digit >= 0 && digit <= 9 && digits < SAFE_DIGITS) {
        whole = 10 * whole + digit;
        digits++;
        if (fraction >= 0) fraction++;
      } else if (digit === DOT - ZERO && fraction < 0) fraction = 0;
      else return Number(this.get(column));
    }
    if (digits === 0) return Number(this.get(column));
    const value = whole / POWERS[Math.max(0, fraction)]!; // both exact, so the quotient is rounded once
    return isNegative ? -value : value;
  }
}
