import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { readBytes, readText, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { JOURNAL_START, type JournalPosition, journalPosition } from '../../core/journal/position.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import {
  checkClosing,
  checkFact,
  type Fact,
  type FactClosing,
  type FactEdge,
  type FactMoments,
  type FactOperation,
} from '../../index/graph/fact-edge.ts';
import { FactGraph, FactLedger, type FactNeighbour } from '../../index/graph/fact-graph.ts';
import type { LogContent } from '../store/removal.ts';
import {
  listSnapshots,
  namePart,
  readSnapshotManifest,
  removeSnapshots,
  splitLines,
  writeSnapshotFolder,
} from '../store/snapshot.ts';

/** The bytes of an operation: JSON. */
function encodeFactOperation(operation: FactOperation): Uint8Array {
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
function applyStored(graph: FactGraph, bytes: Uint8Array, sequence: number): void {
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

/**
 * The operations that name none of some ids. A fact that names an id is left out together with its end. A fact that was
 * ended by such a fact stays ended.
 */
function forgetFacts(operations: readonly FactOperation[], ids: ReadonlySet<string>): FactOperation[] {
  const gone = new Set(ids);
  for (const operation of operations) {
    if (operation.kind !== 'assert') continue;
    const { id, source, target, relation } = operation.fact;
    if ([id, source, target, relation].some((text) => ids.has(text))) gone.add(id);
  }
  return operations.flatMap((operation): FactOperation[] => {
    if (operation.kind === 'assert') return gone.has(operation.fact.id) ? [] : [operation];
    if (gone.has(operation.id)) return [];
    return [{ ...operation, by: operation.by !== null && gone.has(operation.by) ? null : operation.by }];
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
async function writeFactSnapshot(folder: string, graph: FactGraph, position: JournalPosition): Promise<void> {
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
async function readFactSnapshot(folder: string, remedy: string): Promise<FactSnapshot> {
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

/** How messages name a store. */
const FACT_STORE_NAME = 'fact store';

/** An operation that waits to be written. */
interface Job {
  readonly operation: FactOperation;
  readonly finish: (version: FactEdge) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A graph of facts on two timelines, see {@link FactGraph}, whose changes are kept in a journal. A change is
 * acknowledged, and seen, once its entry is written: an acknowledged change is there after the process is killed and,
 * with `fsync: always`, after a power failure. Changes are checked and done in the order of the calls.
 */
export class FactStore {
  /** Null for a store in memory alone. */
  readonly folder: string | null;
  readonly #journal: Journal | null;
  readonly #graph: FactGraph;
  readonly #waiting: Job[] = [];
  readonly #runAlone = createSerialRunner();
  #writing: Promise<void> | null = null;
  #snapshotSequence: number;
  /** The position of the last change of the graph. */
  #position: JournalPosition;
  #isClosed = false;

  /** @internal `openFactStore` makes stores. */
  constructor(journal: Journal | null, graph: FactGraph, snapshotSequence: number) {
    this.folder = journal?.folder ?? null;
    this.#journal = journal;
    this.#graph = graph;
    this.#snapshotSequence = snapshotSequence;
    this.#position = journal?.position ?? JOURNAL_START;
  }

  /** Sentences about acknowledged changes that the opening found missing at the end. */
  get warnings(): readonly string[] {
    return this.#journal?.warnings ?? [];
  }

  /** Versions so far, which is the number of the last change; never falls. */
  get size(): number {
    return this.#graph.size;
  }

  /** Facts so far; never falls. */
  get facts(): number {
    return this.#graph.facts;
  }

  /** The moment of the last change; null for an empty store. */
  get lastRecordedAt(): number | null {
    return this.#graph.lastRecordedAt;
  }

  /**
   * As {@link FactGraph.assert}, once the change is written.
   *
   * @throws ValidationError as there, and after {@link close}; StorageError.
   */
  async assert(fact: Fact, recordedAt: number): Promise<FactEdge> {
    return this.#write(checkFact(fact, recordedAt));
  }

  /**
   * As {@link FactGraph.supersede}, once the change is written.
   *
   * @throws ValidationError as there, and after {@link close}; StorageError.
   */
  async supersede(id: string, closing: FactClosing): Promise<FactEdge> {
    return this.#write(checkClosing(id, closing));
  }

  /** As {@link FactGraph.asOf}. */
  asOf(moments?: FactMoments): FactEdge[] {
    return this.#graph.asOf(moments);
  }

  /** As {@link FactGraph.neighbours}. */
  neighbours(node: string, moments?: FactMoments): FactNeighbour[] {
    return this.#graph.neighbours(node, moments);
  }

  /** As {@link FactGraph.versions}. */
  versions(id?: string): FactEdge[] {
    return this.#graph.versions(id);
  }

  #write(operation: FactOperation): Promise<FactEdge> {
    this.#assertOpen();
    return new Promise((finish, fail) => {
      this.#waiting.push({ operation, finish, fail });
      this.#writing ??= this.#drain();
    });
  }

  /**
   * Writes the operations that wait as one batch. The next batch is checked after this one is written or has failed, so
   * that no entry depends on one that is not in the journal.
   */
  async #drain(): Promise<void> {
    await Promise.resolve(); // operations of the same moment share a batch
    while (this.#waiting.length > 0) {
      const ledger = new FactLedger(this.#graph.ledger);
      await Promise.all(this.#waiting.splice(0).map((job) => this.#writeOne(job, ledger)));
    }
    this.#writing = null;
  }

  async #writeOne({ operation, finish, fail }: Job, ledger: FactLedger): Promise<void> {
    try {
      ledger.add(operation);
      const apply = (sequence: number, hash: string) => {
        this.#position = { sequence, hash };
        return this.#graph.apply(operation);
      };
      finish(
        this.#journal === null
          ? this.#graph.apply(operation)
          : await this.#journal.append(encodeFactOperation(operation), apply),
      );
    } catch (error) {
      fail(error);
    }
  }

  /**
   * Writes every change so far as a snapshot, then removes the entries of the journal and the snapshots that it
   * replaces. Changes go on meanwhile. Does nothing for a store in memory, nor if nothing has changed.
   *
   * @throws StorageError; the store is as before then.
   */
  snapshot(): Promise<void> {
    this.#assertOpen();
    return this.#runAlone(() => this.#writeSnapshot());
  }

  async #writeSnapshot(): Promise<void> {
    const journal = this.#journal;
    if (journal === null || this.size === this.#snapshotSequence) return;
    await journal.rotate(); // entries up to here are in earlier segments
    const { sequence } = this.#position; // of this moment: the graph is read before the first wait
    await writeFactSnapshot(journal.folder, this.#graph, this.#position);
    this.#snapshotSequence = sequence;
    journal.dropThrough(sequence);
    removeSnapshots(journal.folder, sequence);
  }

  /** Ends writing, after the changes that wait, and releases the folder. @throws StorageError. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#runAlone(async () => {
      await this.#writing;
      await this.#journal?.close();
    });
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    const { folder } = this;
    throw new ValidationError(`${FACT_STORE_NAME} is closed: ${folder ?? 'in memory'}; open it again`, { folder });
  }
}

/** When the changes of a store of facts reach the disk, and whether its folder is only read. */
export type FactStoreOptions = Pick<JournalOptions, 'fsync' | 'intervalMs' | 'segmentBytes' | 'readOnly'>;

const REMEDY = 'restore the folder from a copy';

/** Reads a folder's snapshot and journal. */
async function restore(journal: Journal): Promise<FactStore> {
  const { graph, position } = await readFactSnapshot(journal.folder, REMEDY);
  await journal.replay(position, ({ sequence, payload }) => applyStored(graph, payload, sequence));
  journal.dropThrough(position.sequence);
  if (!journal.isReadOnly) removeSnapshots(journal.folder, position.sequence);
  return new FactStore(journal, graph, position.sequence);
}

/**
 * The facts of a closed store as its snapshot has them; null for a folder without a snapshot of facts.
 *
 * @throws ChecksumMismatchError, StorageError.
 */
export async function readSavedFacts(folder: string): Promise<FactSnapshot | null> {
  const latest = listSnapshots(folder).at(-1);
  if (latest === undefined || !/"kind": ?"facts"/.test(readText(join(latest.path, 'snapshot.json')))) return null;
  return readFactSnapshot(folder, REMEDY);
}

/**
 * What a closed store of facts holds.
 *
 * @param saved null: it has no snapshot.
 * @param payloads the entries of its journal after the snapshot.
 * @throws ValidationError for entries of something else.
 */
export function readFacts(saved: FactSnapshot | null, payloads: readonly Uint8Array[]): LogContent {
  const graph = saved?.graph ?? new FactGraph();
  for (const payload of payloads) applyStored(graph, payload, graph.size + 1);
  const operations = listFactOperations(graph.versions());
  return {
    records: [],
    forget({ ids }) {
      const kept = forgetFacts(operations, ids);
      return { entries: kept.map(encodeFactOperation), changed: operations.length - kept.length };
    },
  };
}

/**
 * Opens a store of facts on two timelines; makes its folder if it is missing, unless it is only read.
 *
 * @param folder null: the facts are in memory alone.
 * @throws WalCorruptedError and ChecksumMismatchError for a damaged folder, UnavailableError naming the process that
 *   has it open, ValidationError for a folder of another store, StorageError.
 */
export async function openFactStore(folder: string | null, options: FactStoreOptions = {}): Promise<FactStore> {
  if (folder === null) return new FactStore(null, new FactGraph(), 0);
  const journal = Journal.open(folder, { ...options, kind: FACT_STORE_NAME, remedy: REMEDY });
  try {
    return await restore(journal);
  } catch (error) {
    await journal.close();
    throw error;
  }
}
