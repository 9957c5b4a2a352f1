import { join } from 'node:path';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { readBytes, writeAtomic } from '../../core/files/files.ts';
import { readCheckedSafetensors, writeSafetensors } from '../../core/files/safetensors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { joinVectors, type RecordHead, splitHead } from './operation.ts';
import type { PastVersion, SavedHistory } from './record-history.ts';

/** The part of the manifest of a snapshot about its history. */
interface HistoryManifest {
  readonly begin: number;
  /** The SHA-256 of the JSON of each part. */
  readonly parts: string[];
}

/** Versions of a part: a pair of files. */
const PART_VERSIONS = 2048;
const NUMBERS = 'history.safetensors';
const nameHistory = (folder: string, part: number) => join(folder, `history-${String(part).padStart(6, '0')}`);

/** A version as JSON. */
interface WrittenVersion extends Pick<PastVersion, 'from' | 'until' | 'place'> {
  readonly head: RecordHead;
  /** The row of its vector in the part; null for that of the present record. */
  readonly row: number | null;
}

/** Writes a part. A vector that several versions share is written once. @returns the hash of the JSON. */
function writePart(path: string, versions: readonly PastVersion[], present: ReadonlyMap<string, MemoryRecord>): string {
  const rows = new Map<Float32Array, number>();
  const owners: MemoryRecord[] = [];
  const written = versions.map(({ record, ...span }) => {
    const isPresent = present.get(record.id)?.embedding === record.embedding;
    if (!isPresent && !rows.has(record.embedding)) rows.set(record.embedding, owners.push(record) - 1);
    const row = isPresent ? null : (rows.get(record.embedding) as number);
    return { head: splitHead(record), ...span, row } satisfies WrittenVersion;
  });
  const data = joinVectors(owners);
  const shape = [owners.length, owners[0]?.embedding.length ?? 0];
  writeSafetensors(`${path}.safetensors`, { tensors: { embeddings: { shape, data } }, metadata: {} });
  const text = Buffer.from(JSON.stringify(written));
  writeAtomic(`${path}.json`, text);
  return computeHash(text);
}

/**
 * Writes a history beside the records of a snapshot. Events are let in between parts.
 *
 * @param records the present ones.
 * @throws StorageError.
 */
export async function writeHistory(
  folder: string,
  { begin, times, present, past }: SavedHistory,
  records: readonly MemoryRecord[],
): Promise<HistoryManifest> {
  const tensors = {
    times: { shape: [times.length], data: times },
    present: { shape: [records.length, 2], data: present },
  };
  writeSafetensors(join(folder, NUMBERS), { tensors, metadata: {} });
  const known = new Map(records.map((record) => [record.id, record]));
  const grouped = [...past].sort((a, b) => a.place - b.place); // versions of one record share vectors
  const parts: string[] = [];
  for (let start = 0; start < grouped.length; start += PART_VERSIONS) {
    parts.push(writePart(nameHistory(folder, parts.length), grouped.slice(start, start + PART_VERSIONS), known));
    await letEventsIn();
  }
  return { begin, parts };
}

function readPart(
  path: string,
  hash: string,
  present: ReadonlyMap<string, MemoryRecord>,
  remedy: string,
): PastVersion[] {
  const { embeddings } = readCheckedSafetensors(`${path}.safetensors`, remedy).tensors;
  const bytes = readBytes(`${path}.json`);
  if (computeHash(bytes) !== hash) throw new ChecksumMismatchError(`${path}.json`, 'its checksum differs', remedy);
  const [count = 0, dimension = 0] = embeddings?.shape ?? [];
  const texts = new Map<string, string>();
  const vectors = Array.from({ length: count }, (_, row) => viewRow(embeddings?.data as Float32Array, dimension, row));
  return (JSON.parse(Buffer.from(bytes).toString('utf8')) as WrittenVersion[]).map(({ head, row, ...span }) => {
    const now = present.get(head.id);
    const embedding = (row === null ? now?.embedding : vectors[row]) as Float32Array;
    const isSame = now?.context === head.context; // a text that versions share is one in memory
    const context = isSame ? now.context : getOrCompute(texts, head.context, () => head.context);
    return { record: Object.freeze({ ...head, context, embedding }), ...span };
  });
}

/**
 * Reads the history beside the records of a snapshot.
 *
 * @param remedy the end of the message about damage.
 * @throws ChecksumMismatchError, StorageError.
 */
export async function readHistory(
  folder: string,
  { begin, parts }: HistoryManifest,
  records: readonly MemoryRecord[],
  remedy: string,
): Promise<SavedHistory> {
  const { times, present } = readCheckedSafetensors(join(folder, NUMBERS), remedy).tensors;
  const known = new Map(records.map((record) => [record.id, record]));
  const past: PastVersion[] = [];
  for (const [part, hash] of parts.entries()) {
    for (const version of readPart(nameHistory(folder, part), hash, known, remedy)) past.push(version);
    await letEventsIn();
  }
  return { begin, times: times?.data as Float64Array, present: present?.data as Float64Array, past };
}
