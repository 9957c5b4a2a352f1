import { viewRow } from '../../core/tensors/rows.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { RecordHead } from './operation.ts';

/** The beginning of a line of a record, and the bytes that end its id or begin an escape in it. */
const BEGINNING = Buffer.from('{"id":"');
const [QUOTE, BACKSLASH, LINE_FEED] = [0x22, 0x5c, 0x0a];

/** The record of a line without its vector. */
export const decodeLine = (line: Uint8Array) =>
  JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8')) as RecordHead;

/** The id that a line begins with; the line is decoded if the id is elsewhere or has an escape. */
function readId(lines: Buffer, start: number, end: number): string {
  const from = start + BEGINNING.byteLength;
  if (lines.compare(BEGINNING, 0, BEGINNING.byteLength, start, from) === 0)
    for (let at = from; at < end && lines[at] !== BACKSLASH; at++)
      if (lines[at] === QUOTE) return lines.toString('utf8', from, at);
  return decodeLine(lines.subarray(start, end)).id;
}

/** Lines of records, and their vectors [R, D]. */
interface SavedPart {
  readonly lines: Uint8Array;
  /** [R + 1] where each line begins; one more than the end of the last. */
  readonly starts: Uint32Array;
  readonly vectors: Float32Array;
}

/** A record of a snapshot, which is decoded when it is read. */
export class SavedRecord {
  readonly id: string;
  readonly #part: SavedPart;
  readonly #row: number;

  constructor(id: string, part: SavedPart, row: number) {
    this.id = id;
    this.#part = part;
    this.#row = row;
  }

  read(): MemoryRecord {
    const { lines, starts, vectors } = this.#part;
    const row = this.#row;
    const head = decodeLine(lines.subarray(starts[row] as number, (starts[row + 1] as number) - 1));
    return { ...head, embedding: viewRow(vectors, vectors.length / (starts.length - 1), row) };
  }
}

function listStarts(lines: Buffer): Uint32Array {
  const starts = [0];
  for (let start = 0; start < lines.byteLength; ) {
    const found = lines.indexOf(LINE_FEED, start);
    start = (found < 0 ? lines.byteLength : found) + 1;
    starts.push(start);
  }
  return Uint32Array.from(starts);
}

/** The records of lines, each with the vector of its row. O(bytes) for the ids alone. */
export function listSavedRecords(bytes: Uint8Array, vectors: Float32Array): SavedRecord[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts = listStarts(lines);
  const part = { lines, starts, vectors };
  return Array.from(
    { length: starts.length - 1 },
    (_, row) => new SavedRecord(readId(lines, starts[row] as number, (starts[row + 1] as number) - 1), part, row),
  );
}
