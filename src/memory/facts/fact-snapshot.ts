import { z } from 'zod';
import { ChecksumMismatchError } from '../../core/errors.ts';
import { letEventsIn } from '../../core/event-loop.ts';
import { readBytes, writeAtomic } from '../../core/files.ts';
import { computeHash } from '../../core/hash.ts';
import { FactGraph } from '../../graph/fact-graph.ts';
import {
  listSnapshots,
  namePart,
  readSnapshotManifest,
  splitLines,
  writeSnapshotFolder,
} from '../store/snapshot-folder.ts';
import { applyStored, encodeFactOperation, listFactOperations } from './fact-operation.ts';

/** Operations of a part: a file with a line for each. */
const PART_OPERATIONS = 4096;

const manifestSchema = z.strictObject({
  kind: z.literal('facts'),
  /** The number of operations. */
  sequence: z.number(),
  /** The SHA-256 of the lines of each part. */
  parts: z.array(z.string()),
});
type Manifest = z.output<typeof manifestSchema>;

const END_OF_LINE = Buffer.from('\n');
const nameLines = (folder: string, part: number) => `${namePart(folder, part)}.jsonl`;

/**
 * Writes the operations of a graph so far as a folder that appears as a whole. Changes that come meanwhile are not in it: events are let in between parts.
 *
 * @returns the number of operations.
 * @throws StorageError; nothing is left then.
 */
export async function writeFactSnapshot(folder: string, graph: FactGraph): Promise<number> {
  const operations = listFactOperations(graph.versions());
  const sequence = operations.length;
  await writeSnapshotFolder(folder, sequence, async (partial): Promise<Manifest> => {
    const parts: string[] = [];
    for (let start = 0; start < sequence; start += PART_OPERATIONS) {
      const lines = operations.slice(start, start + PART_OPERATIONS).map(encodeFactOperation);
      const text = Buffer.concat(lines.flatMap((line) => [line, END_OF_LINE]));
      writeAtomic(nameLines(partial, parts.length), text);
      parts.push(computeHash(text));
      await letEventsIn();
    }
    return { kind: 'facts', sequence, parts };
  });
  return sequence;
}

/**
 * Reads the latest snapshot of a folder; an empty graph if there is none.
 *
 * @param remedy the end of the message about damage.
 * @throws ChecksumMismatchError, StorageError.
 */
export async function readFactSnapshot(folder: string, remedy: string): Promise<FactGraph> {
  const graph = new FactGraph();
  const latest = listSnapshots(folder).at(-1);
  if (latest === undefined) return graph;
  const { parts } = readSnapshotManifest(latest.path, manifestSchema, remedy);
  for (const [i, hash] of parts.entries()) {
    const path = nameLines(latest.path, i);
    const bytes = readBytes(path);
    if (computeHash(bytes) !== hash) throw new ChecksumMismatchError(path, 'its checksum differs', remedy);
    for (const line of splitLines(bytes)) applyStored(graph, line, graph.size + 1);
    await letEventsIn();
  }
  return graph;
}
