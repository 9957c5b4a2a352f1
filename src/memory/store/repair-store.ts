import { existsSync } from 'node:fs';
import { RagPlusPlusError, ValidationError } from '../../core/errors/errors.ts';
import { readBytes, readFolder } from '../../core/files/files.ts';
import { FolderLock } from '../../core/files/folder-lock.ts';
import { readCheckedSafetensors } from '../../core/files/safetensors.ts';
import { computeCrc32 } from '../../core/hash/hash.ts';
import { JOURNAL_START, type JournalPosition, UNKNOWN_HASH } from '../../core/journal/position.ts';
import { type LostEntries, listSegments, readJournal, readJournalEnd } from '../../core/journal/segments.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { openStore } from './open-store.ts';
import { decodeOperation } from './operation.ts';
import { RecordTable } from './record-table.ts';
import { readStagedIds } from './removal.ts';
import { decodeLine } from './saved-record.ts';
import { listSnapshots, type Manifest, namePart, readManifest, splitLines } from './snapshot.ts';

/** What a repair found. */
export interface RepairReport {
  /** The records of the new store. */
  readonly records: number;
  /** Ranges of operations that could not be read. */
  readonly lostOperations: readonly LostEntries[];
  /** Records of the snapshot that could not be read. */
  readonly lostRecords: number;
  /** Outcomes of records that were lost. */
  readonly lostOutcomes: number;
  /** Files of the snapshot with another content than the one that was written. */
  readonly damagedFiles: readonly string[];
}

/** Vectors [R, D] of a part, and the CRC-32 of each vector and of each line, [R, 2]. */
interface PartNumbers {
  readonly embeddings: Float32Array;
  readonly checks: Int32Array;
}

const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** The numbers of a part whose checksum differs, by their places from the end of the file. The file is cut if they do not fit. */
function readDamagedNumbers(path: string, rows: number, dimension: number): PartNumbers {
  const bytes = readBytes(path);
  const checksAt = Math.max(0, bytes.byteLength - 2 * FLOAT_BYTES * rows);
  const embeddingsAt = Math.max(0, checksAt - FLOAT_BYTES * rows * dimension);
  const copy = (from: number, to: number) =>
    new Uint8Array(bytes.subarray(from, to - ((to - from) % FLOAT_BYTES))).buffer;
  return {
    embeddings: new Float32Array(copy(embeddingsAt, checksAt)),
    checks: new Int32Array(copy(checksAt, bytes.byteLength)),
  };
}

/** Reads what is left of a folder. */
class Salvage {
  readonly table = new RecordTable();
  readonly lostOperations: LostEntries[] = [];
  readonly damagedFiles: string[] = [];
  lostRecords = 0;
  lostOutcomes = 0;
  readonly #progress: StartProgress;

  constructor(progress: StartProgress) {
    this.#progress = progress;
  }

  /** The result of a read; null for a damaged or missing file, which is noted. */
  #read<T>(path: string, read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof RagPlusPlusError)) throw error;
      this.damagedFiles.push(path);
      return null;
    }
  }

  /** @returns the running hash of the journal up to the snapshot. */
  readSnapshot(path: string): string {
    const manifest = this.#read(`${path}/snapshot.json`, () => readManifest(path, ''));
    const count = manifest?.parts.length ?? readFolder(path).filter((name) => name.endsWith('.jsonl')).length;
    const shown = this.#progress('parts of the snapshot', count);
    for (let part = 0; part < count; part++) {
      this.#readPart(namePart(path, part), manifest?.parts[part] ?? null, manifest?.dimension ?? null);
      shown.update(part + 1);
    }
    shown.finish(`${this.table.size} records read`);
    return manifest?.position.hash ?? UNKNOWN_HASH;
  }

  #readPart(path: string, part: Manifest['parts'][number] | null, dimension: number | null): void {
    const lines = this.#read(`${path}.jsonl`, () => splitLines(readBytes(`${path}.jsonl`))) ?? [];
    const rows = part?.records ?? lines.length;
    const numbers = this.#readNumbers(`${path}.safetensors`, rows, dimension);
    const kept = numbers === null ? [] : joinSound(lines, numbers, rows);
    if (kept.length < lines.length || kept.length < rows) this.#note(`${path}.jsonl`, lines, numbers);
    this.lostRecords += rows - kept.length;
    this.table.put(kept);
  }

  /** Notes the file of lines if it has one that no checksum fits. */
  #note(path: string, lines: readonly Uint8Array[], numbers: PartNumbers | null): void {
    const known = new Set(numbers?.checks.filter((_, i) => i % 2 === 1));
    const isDamaged = numbers === null || lines.some((line) => !known.has(computeCrc32(line) | 0));
    if (isDamaged && !this.damagedFiles.includes(path)) this.damagedFiles.push(path);
  }

  #readNumbers(path: string, rows: number, dimension: number | null): PartNumbers | null {
    const whole = this.#read(path, () => readCheckedSafetensors(path, ''));
    if (whole !== null)
      return {
        embeddings: whole.tensors.embeddings?.data as Float32Array,
        checks: whole.tensors.checks?.data as Int32Array,
      };
    if (dimension === null || !existsSync(path)) return null;
    return readDamagedNumbers(path, rows, dimension);
  }

  async readJournal(folder: string, after: JournalPosition): Promise<void> {
    const end = readJournalEnd(folder);
    const start = end === null ? ignoreProgress : this.#progress; // without an end their number is unknown
    const shown = start('changes', Math.max(0, (end?.sequence ?? 0) - after.sequence));
    const { next } = await readJournal(listSegments(folder), after, {
      lost: (entries) => void this.lostOperations.push(entries),
      entry: ({ sequence, payload }) => {
        shown.update(sequence - after.sequence);
        const operation = decodeOperation(payload, sequence);
        if (operation.kind === 'observe' && this.table.get(operation.id) === undefined) this.lostOutcomes++;
        else this.table.apply(operation);
      },
    });
    shown.finish();
    if (end !== null && end.sequence >= next)
      this.lostOperations.push({ path: folder, reason: 'they are missing at the end', from: next, to: end.sequence });
  }
}

/** The records of a part whose line and vector both have the checksums that were written. */
function joinSound(lines: readonly Uint8Array[], { embeddings, checks }: PartNumbers, rows: number): MemoryRecord[] {
  const dimension = Math.floor(embeddings.length / rows);
  const rowOfLine = new Map(Array.from({ length: rows }, (_, row) => [checks[2 * row + 1], row]));
  return lines.flatMap((line, i) => {
    const check = computeCrc32(line) | 0;
    const row = checks[2 * i + 1] === check ? i : rowOfLine.get(check); // a lost end of line moves the lines after it
    if (row === undefined) return [];
    const embedding = viewRow(embeddings, dimension, row).slice();
    const isSound = (computeCrc32(new Uint8Array(embedding.buffer)) | 0) === checks[2 * row];
    return isSound ? [{ ...decodeLine(line), embedding }] : [];
  });
}

/** Records that are written to the new store at once. */
const CHUNK = 1024;

async function writeStore(folder: string, records: readonly MemoryRecord[], progress: StartProgress): Promise<void> {
  const shown = progress('records', records.length);
  const store = await openStore(folder, { fsync: 'interval' });
  try {
    for (let start = 0; start < records.length; start += CHUNK) {
      const chunk = records.slice(start, start + CHUNK);
      await store.put(chunk);
      shown.update(start + chunk.length);
    }
    await store.snapshot();
    shown.finish(`${records.length} written`);
  } finally {
    await store.close();
  }
}

/**
 * Writes what can be read of a damaged store into a new one. The damaged folder stays as it is. Operations that are lost may have removed or changed records:
 * a record of the new store is as of the operations that were read.
 *
 * @param into must be missing or empty.
 * @throws ValidationError for a folder that has files, UnavailableError naming the process that has a folder open, StorageError.
 */
export async function repairStore(
  folder: string,
  into: string,
  progress: StartProgress = ignoreProgress,
): Promise<RepairReport> {
  if (existsSync(into) && readFolder(into).length > 0)
    throw new ValidationError(`folder for the repaired store has files: ${into}; name an empty one`, { folder: into });
  const lock = FolderLock.acquire(folder, 'memory store');
  try {
    const salvage = new Salvage(progress);
    const snapshot = listSnapshots(folder).at(-1);
    const after =
      snapshot === undefined
        ? JOURNAL_START
        : { sequence: snapshot.sequence, hash: salvage.readSnapshot(snapshot.path) };
    await salvage.readJournal(folder, after);
    salvage.table.forget(readStagedIds(folder));
    await writeStore(into, salvage.table.list(), progress);
    const { table, lostOperations, lostRecords, lostOutcomes, damagedFiles } = salvage;
    return { records: table.size, lostOperations, lostRecords, lostOutcomes, damagedFiles };
  } finally {
    lock.release(folder);
  }
}
