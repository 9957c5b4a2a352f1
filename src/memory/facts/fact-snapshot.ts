import { z } from 'zod';
import { ChecksumMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { readBytes, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { JOURNAL_START, type JournalPosition, journalPosition } from '../../core/journal/position.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import { checkClosing, checkFact, type FactEdge, type FactOperation } from '../../index/graph/fact-edge.ts';
import { FactGraph } from '../../index/graph/fact-graph.ts';
import {
  listSnapshots,
  namePart,
  readSnapshotManifest,
  splitLines,
  writeSnapshotFolder,
} from '../store/snapshot-folder.ts';

/** The bytes of an operation: JSON. */
export function encodeFactOperation(operation: FactOperation): Uint8Array {
  return Buffer.from(JSON.stringify(operation));
}

function decodeFactOperation(bytes: Uint8Array): FactOperation {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const { kind, ...operation } = JSON.parse(text) as FactOperation & Record<string, unknown>;
  if (kind === 'assert') return checkFact(operation.fact as never, operation.recordedAt);
  const { id, ...closing } = operation;
  if (kind === 'supersede') return checkClosing(id as string, closing as never);
  throw new ValidationError(`kind of an operation is unknown: ${String(kind)}; use assert or supersede`, { kind });
}

/**
 * Does the stored operation with a number.
 *
 * @throws ValidationError for bytes of something else, and an operation that may not follow the earlier ones.
 */
export function applyStored(graph: FactGraph, bytes: Uint8Array, sequence: number): void {
  try {
    graph.apply(decodeFactOperation(bytes));
  } catch (error) {
    const reason = error instanceof ValidationError ? ` (${error.message})` : '';
    throw new ValidationError(
      `change ${sequence} is no operation of a fact store${reason}; open the folder with the program that wrote it`,
      { sequence },
      { cause: error },
    );
  }
}

/**
 * The operations that made versions: the first version of a fact is its assertion, each later one supersedes the
 * version before.
 */
function listFactOperations(versions: readonly FactEdge[]): FactOperation[] {
  const asserted = new Set<string>();
  return versions.map(({ recordedAt, supersededAt: _, closedBy, ...fact }) => {
    const { id, validUntil } = fact;
    if (asserted.has(id)) return { kind: 'supersede', id, validUntil: validUntil as number, recordedAt, by: closedBy };
    asserted.add(id);
    return { kind: 'assert', fact, recordedAt };
  });
}

/** Operations of a part: a file with a line for each. */
const PART_OPERATIONS = 4096;

const manifestSchema = z.strictObject({
  kind: z.literal('facts'),
  /** The last operation. */
  position: journalPosition,
  /** The SHA-256 of the lines of each part. */
  parts: z.array(z.string()),
});
type Manifest = z.output<typeof manifestSchema>;

/** A graph, and the last operation that made it. */
export interface FactSnapshot {
  readonly graph: FactGraph;
  readonly position: JournalPosition;
}

const END_OF_LINE = Buffer.from('\n');
const nameLines = (folder: string, part: number) => `${namePart(folder, part)}.jsonl`;

/**
 * Writes the operations of a graph so far as a folder that appears as a whole. Changes that come meanwhile are not in
 * it: events are let in between parts.
 *
 * @param position the last operation.
 * @throws StorageError; nothing is left then.
 */
export async function writeFactSnapshot(folder: string, graph: FactGraph, position: JournalPosition): Promise<void> {
  const operations = listFactOperations(graph.versions());
  await writeSnapshotFolder(folder, position, async (partial): Promise<Manifest> => {
    const parts: string[] = [];
    for (let start = 0; start < operations.length; start += PART_OPERATIONS) {
      const lines = operations.slice(start, start + PART_OPERATIONS).map(encodeFactOperation);
      const text = Buffer.concat(lines.flatMap((line) => [line, END_OF_LINE]));
      writeAtomic(nameLines(partial, parts.length), text);
      parts.push(computeHash(text));
      await letEventsIn();
    }
    return { kind: 'facts', position, parts };
  });
}

/**
 * Reads the latest snapshot of a folder: an empty graph if there is none, and its last operation.
 *
 * @param remedy the end of the message about damage.
 * @throws ChecksumMismatchError, StorageError.
 */
export async function readFactSnapshot(folder: string, remedy: string): Promise<FactSnapshot> {
  const graph = new FactGraph();
  const latest = listSnapshots(folder).at(-1);
  if (latest === undefined) return { graph, position: JOURNAL_START };
  const { parts, position } = readSnapshotManifest(latest.path, manifestSchema, remedy);
  for (const [i, hash] of parts.entries()) {
    const path = nameLines(latest.path, i);
    const bytes = readBytes(path);
    if (computeHash(bytes) !== hash) throw new ChecksumMismatchError(path, 'its checksum differs', remedy);
    for (const line of splitLines(bytes)) applyStored(graph, line, graph.size + 1);
    await letEventsIn();
  }
  return { graph, position };
}
