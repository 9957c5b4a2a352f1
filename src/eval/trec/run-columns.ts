import { getOrCompute, LazyMap } from '../../core/values/once.ts';
import type { GradedRun } from '../../model/run.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import { UNJUDGED } from '../metrics/judged-ranking.ts';

/** A number of bytes, the same for equal ones. Takes four bytes a step, since each product waits for the one before. */
function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const four = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = Math.imul(hash ^ four, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

/** The bytes of a text in UTF-8, in an array that holds them until the next call where the text is short ASCII. */
function encodeName(text: string, into: Uint8Array): Uint8Array {
  if (text.length > into.length) return Buffer.from(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) return Buffer.from(text);
    into[i] = code;
  }
  return into;
}

const LEAST_SLOTS = 2 ** 5;

/** Distinct names of rows, in UTF-8, one behind the other, and the row of each name. */
class RowNames {
  #bytes = Buffer.allocUnsafeSlow(2 ** 10);
  /** [rows + 1] the first byte of each name, and the end of the last one. */
  #starts = new Uint32Array(2 ** 6);
  /** [rows] the number of each name, see {@link hashBytes}. */
  #hashes = new Int32Array(2 ** 6);
  #size = 0;
  readonly #scratch = new Uint8Array(2 ** 7);
  /** A row + 1 in the slot of its hash, or the next one that was free; 0 in free ones. A power of 2. */
  #slots = new Int32Array(LEAST_SLOTS);

  get size(): number {
    return this.#size;
  }

  clear(): void {
    this.#size = 0;
    this.#slots.fill(0);
  }

  /** Adds a row with the bytes of an array from `start` to `end`. @returns false if a row has this name. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    const hash = hashBytes(bytes, start, end);
    const slot = this.#findSlot(hash, bytes, start, end);
    if (this.#slots[slot] !== 0) return false;
    const from = this.#starts[this.#size]!;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#enlargeBytes(2 * to);
    const own = this.#bytes;
    for (let at = start; at < end; at++) own[from + at - start] = bytes[at]!;
    this.#hashes[this.#size] = hash;
    this.#size++;
    if (this.#size === this.#starts.length) this.#enlargeRows();
    this.#starts[this.#size] = to;
    this.#slots[slot] = this.#size;
    if (2 * this.#size > this.#slots.length) this.#enlargeSlots();
    return true;
  }

  /** Adds a row with a text. @returns false if a row has this name. */
  addText(text: string): boolean {
    const bytes = encodeName(text, this.#scratch);
    return this.add(bytes, 0, bytes === this.#scratch ? text.length : bytes.length);
  }

  /** Writes to `found` the row of the name of each row of a block from `start` to `end`; -1 for none. */
  find({ bytes, starts, hashes }: Block, start: number, end: number, found: Int32Array): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let row = start; row < end; row++) {
      const hash = hashes[row]!;
      let slot = hash & mask; // most names are found nowhere, at once
      if (slots[slot] !== 0) slot = this.#findSlot(hash, bytes, starts[row]!, starts[row + 1]!);
      found[row - start] = slots[slot]! - 1;
    }
  }

  #findSlot(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0 && !this.#hasName(slots[slot]! - 1, hash, bytes, start, end)) slot = (slot + 1) & mask;
    return slot;
  }

  #hasName(row: number, hash: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#hashes[row] !== hash) return false;
    const own = this.#bytes;
    const from = this.#starts[row]! - start;
    if (this.#starts[row + 1]! - from !== end) return false;
    for (let at = start; at < end; at++) if (own[from + at] !== bytes[at]) return false;
    return true;
  }

  #enlargeBytes(length: number): void {
    const bytes = Buffer.allocUnsafeSlow(length);
    this.#bytes.copy(bytes, 0, 0, this.#starts[this.#size]);
    this.#bytes = bytes;
  }

  #enlargeRows(): void {
    const starts = new Uint32Array(2 * this.#starts.length);
    starts.set(this.#starts);
    this.#starts = starts;
    const hashes = new Int32Array(starts.length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
  }

  #enlargeSlots(): void {
    const mask = 2 * this.#slots.length - 1;
    this.#slots = new Int32Array(mask + 1);
    for (let row = 0; row < this.#size; row++) {
      let slot = this.#hashes[row]! & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = row + 1;
    }
  }

  /** The order of the names of two rows by their bytes: negative if the first comes before the second. */
  compare(a: number, b: number): number {
    const starts = this.#starts;
    return this.#bytes.compare(this.#bytes, starts[b]!, starts[b + 1]!, starts[a]!, starts[a + 1]!);
  }

  /** The bytes that hold the names, see {@link getStart}; others once a row was added. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The first byte of a row's name, and for the number of rows the end of the last name. */
  getStart(row: number): number {
    return this.#starts[row]!;
  }

  /** The number of a row's name, see {@link hashBytes}. */
  getHash(row: number): number {
    return this.#hashes[row]!;
  }
}

/** Rows of a block. A power of 2. */
const BLOCK_BITS = 12;
const BLOCK_ROWS = 2 ** BLOCK_BITS;

/** Rows of a run; each block but the last one has {@link BLOCK_ROWS}. */
interface Block {
  /** The names of the documents, in UTF-8, one behind the other. */
  bytes: Buffer;
  /** [rows + 1] the first byte of each name, and the end of the last one. */
  readonly starts: Uint32Array;
  /** [rows] the number of each name, see {@link hashBytes}. */
  readonly hashes: Int32Array;
  /** [rows] */
  readonly scores: Float64Array;
}

/** Adds the rows of a block from `start` to `end`, as objects. */
function listRows({ bytes, starts, scores }: Block, start: number, end: number, listed: Scored[]): void {
  const [from, to] = [starts[start]!, starts[end]!];
  const text = bytes.toString('utf8', from, to);
  const isCut = text.length === to - from; // each byte is a character of its own: names are parts of the text
  for (let row = start; row < end; row++) {
    const [first, last] = [starts[row]!, starts[row + 1]!];
    const id = isCut ? text.slice(first - from, last - from) : bytes.toString('utf8', first, last);
    listed.push({ id, score: scores[row]! });
  }
}

/** Rows of a query, `end` excluded. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** The rows of a run: 16 bytes each, and the name of the document. What was added is copied once and never moved. */
class RankedRows {
  readonly #blocks: Block[] = [];
  /** The rows after those of the blocks, in memory that is used again for the next ones. */
  readonly #last: Block = {
    bytes: Buffer.allocUnsafeSlow(2 ** 10),
    starts: new Uint32Array(BLOCK_ROWS + 1),
    hashes: new Int32Array(BLOCK_ROWS),
    scores: new Float64Array(BLOCK_ROWS),
  };
  /** Rows of the last block. */
  #count = 0;

  get size(): number {
    return this.#blocks.length * BLOCK_ROWS + this.#count;
  }

  /** Adds rows. @param order which ones of the names and scores */
  add(names: RowNames, scores: Float64Array, order: Int32Array): void {
    for (const row of order) {
      if (this.#count === BLOCK_ROWS) this.#closeBlock();
      this.#addName(names.bytes, names.getStart(row), names.getStart(row + 1));
      this.#last.hashes[this.#count - 1] = names.getHash(row);
      this.#last.scores[this.#count - 1] = scores[row]!;
    }
  }

  #addName(bytes: Buffer, start: number, end: number): void {
    const last = this.#last;
    const from = last.starts[this.#count]!;
    const to = from + end - start;
    if (to > last.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * to);
      last.bytes.copy(larger, 0, 0, from);
      last.bytes = larger;
    }
    const own = last.bytes;
    for (let at = start; at < end; at++) own[from + at - start] = bytes[at]!;
    this.#count++;
    last.starts[this.#count] = to;
  }

  /** Copies the rows of the last block into memory of their length. */
  #closeBlock(): void {
    const { starts, hashes, scores, bytes } = this.#last;
    const own = Buffer.allocUnsafeSlow(starts[this.#count]!);
    bytes.copy(own, 0, 0, own.length);
    this.#blocks.push({ bytes: own, starts: starts.slice(), hashes: hashes.slice(), scores: scores.slice() });
    this.#count = 0;
  }

  #findBlock(row: number): Block {
    return this.#blocks[row >> BLOCK_BITS] ?? this.#last;
  }

  /** The rows of a range, as objects. */
  list({ start, end }: Range): Scored[] {
    const listed: Scored[] = [];
    for (let row = start; row < end; ) {
      const at = row & (BLOCK_ROWS - 1);
      const rows = Math.min(BLOCK_ROWS - at, end - row);
      listRows(this.#findBlock(row), at, at + rows, listed);
      row += rows;
    }
    return listed;
  }

  /**
   * Looks the names of rows up, `end` excluded.
   *
   * @returns [end - start] the row of the same name in `names`, -1 for none.
   */
  find(start: number, end: number, names: RowNames): Int32Array {
    const found = new Int32Array(end - start);
    for (let row = start; row < end; ) {
      const at = row & (BLOCK_ROWS - 1);
      const rows = Math.min(BLOCK_ROWS - at, end - row);
      names.find(this.#findBlock(row), at, at + rows, found.subarray(row - start));
      row += rows;
    }
    return found;
  }
}

/** A run in columns, whose rankings are made each time they are asked for: an object with its string takes 100 bytes. */
class ColumnRun extends LazyMap<string, readonly Scored[]> implements GradedRun {
  readonly #ranges: ReadonlyMap<string, Range>;
  readonly #rows: RankedRows;
  /** The judgements of the query that is graded. */
  readonly #judged = new RowNames();

  constructor(ranges: ReadonlyMap<string, Range>, rows: RankedRows) {
    super(Array.from(ranges, ([queryId, range]) => [queryId, () => rows.list(range)]));
    this.#ranges = ranges;
    this.#rows = rows;
  }

  gradeRanking(queryId: string, judgements: ReadonlyMap<string, number>): Float64Array {
    const { start, end } = this.#ranges.get(queryId) ?? { start: 0, end: 0 };
    const judged = this.#judged;
    judged.clear();
    const values: number[] = [];
    for (const [id, grade] of judgements) {
      judged.addText(id);
      values.push(grade >= 0 ? grade : UNJUDGED);
    }
    const found = this.#rows.find(start, end, judged);
    const grades = new Float64Array(found.length);
    for (let rank = 0; rank < grades.length; rank++) {
      const row = found[rank]!;
      grades[rank] = row < 0 ? UNJUDGED : values[row]!;
    }
    return grades;
  }
}

/** The rows of a query whose lines are read. */
class OpenRanking {
  readonly #names = new RowNames();
  #scores = new Float64Array(2 ** 6);

  clear(): void {
    this.#names.clear();
  }

  /** @returns false for a document that it has. */
  add(bytes: Uint8Array, start: number, end: number, score: number): boolean {
    return this.#names.add(bytes, start, end) && this.#addScore(score);
  }

  addText(id: string, score: number): boolean {
    return this.#names.addText(id) && this.#addScore(score);
  }

  #addScore(score: number): true {
    const row = this.#names.size - 1;
    if (row === this.#scores.length) {
      const larger = new Float64Array(2 * row);
      larger.set(this.#scores);
      this.#scores = larger;
    }
    this.#scores[row] = score;
    return true;
  }

  /** The tie rule, see `compareScored`. */
  readonly #compare = (a: number, b: number): number =>
    this.#scores[b]! - this.#scores[a]! || this.#names.compare(b, a);

  /** Adds the rows to those of a run, in the order of the tie rule. @returns where they are. */
  moveTo(rows: RankedRows): Range {
    const start = rows.size;
    const size = this.#names.size;
    const order = new Int32Array(size).map((_, i) => i);
    let sorted = 1;
    while (sorted < size && this.#compare(sorted - 1, sorted) <= 0) sorted++;
    rows.add(this.#names, this.#scores, sorted < size ? order.sort(this.#compare) : order);
    return { start, end: rows.size };
  }
}

/** Collects the rows of a run file, in the order of its lines. */
export class RunColumns {
  readonly #rows = new RankedRows();
  readonly #ranges = new Map<string, Range>();
  /** The queries whose lines go on after those of another query, with all their rows. */
  readonly #resumed = new Map<string, OpenRanking>();
  readonly #once = new OpenRanking();
  #open = this.#once;
  #queryId: string | null = null;

  /** Begins lines of a query, its first ones or more. */
  begin(queryId: string): void {
    this.#end();
    const range = this.#ranges.get(queryId);
    this.#open = range === undefined ? this.#once : getOrCompute(this.#resumed, queryId, () => this.#resume(range));
    this.#queryId = queryId;
  }

  #end(): void {
    if (this.#queryId === null || this.#open !== this.#once) return;
    this.#ranges.set(this.#queryId, this.#once.moveTo(this.#rows));
    this.#once.clear();
  }

  #resume(range: Range): OpenRanking {
    const ranking = new OpenRanking();
    for (const { id, score } of this.#rows.list(range)) ranking.addText(id, score);
    return ranking;
  }

  /**
   * Adds a row to the query that was begun last.
   *
   * @param bytes the name of the document, from `start` to `end`.
   * @returns false for a document that the query has.
   */
  add(bytes: Uint8Array, start: number, end: number, score: number): boolean {
    return this.#open.add(bytes, start, end, score);
  }

  /** Adds a row by the name of its document, see {@link add}. */
  addText(id: string, score: number): boolean {
    return this.#open.addText(id, score);
  }

  finish(): GradedRun {
    this.#end();
    for (const [queryId, ranking] of this.#resumed) this.#ranges.set(queryId, ranking.moveTo(this.#rows));
    return new ColumnRun(this.#ranges, this.#rows);
  }
}
