import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { DuplicateRecordError, ValidationError } from '../../core/errors.ts';
import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { createSerialRunner } from '../../core/one-at-a-time.ts';
import { parse } from '../../core/validation.ts';
import type { MemoryRecord } from '../../model/memory-record.ts';
import { type MemoryRecordInput, memoryRecordSchema } from '../../model/memory-record-schema.ts';
import { parseRow } from '../../model/row-check.ts';
import { curationRuleOptions } from '../../text/curation-rules.ts';
import type { Memory } from '../engine/memory.ts';
import {
  type CurationDecider,
  computeCosine,
  createRuleDecider,
  listChanges,
  type Neighbour,
} from './curation-choice.ts';
import {
  type CurationEntry,
  decodeLogEntry,
  encodeLogEntry,
  type LogEntry,
  type RecordChange,
} from './curation-entry.ts';

const LOG_NAME = 'curation log';

/** How records are curated. */
export const curationOptions = z.strictObject({
  /** Records that a new one is compared with. */
  neighbours: z.int().min(1).default(10),
  /** The index that finds them; null: the first of the memory. */
  indexName: z.string().min(1).nullable().default(null),
  /** The importance of a record that was contradicted. */
  tombstoneImportance: z.number().min(0).max(1).default(0.3),
  rules: curationRuleOptions,
});
/** How records are curated: the neighbours to compare, the importance of a tombstone, and the rules. */
export type CurationOptions = z.input<typeof curationOptions>;

/** Where a curator logs, and what decides in the place of rules. */
export interface CuratorSettings extends Pick<JournalOptions, 'fsync'> {
  /** Default: rules. */
  readonly decide?: CurationDecider;
}

const isSensitive = ({ metadata }: MemoryRecord) => metadata.sensitive === true;
const isTombstone = ({ metadata }: MemoryRecord) => metadata.superseded === true;

/**
 * Curates the records that come into a memory: each is compared with its nearest neighbours, then added, merged into one of them, dropped, or added in the
 * place of one that it contradicts. Every decision is in a log before it is done, with its reason, and can be undone. Open one with `openCurator`.
 *
 * A sensitive record is added as it is: nothing decides about it, it is no neighbour of another, and the log holds its id alone.
 */
export class Curator {
  readonly #memory: Memory;
  readonly #journal: Journal;
  readonly #options: z.output<typeof curationOptions>;
  readonly #decide: CurationDecider;
  readonly #runAlone = createSerialRunner();
  /** Entries that are not undone, by sequence, the last one last. */
  readonly #live = new Map<number, CurationEntry>();
  /** What the last entry of the log does, until that is done. */
  #last: { readonly changes: readonly RecordChange[]; readonly isUndone: boolean } | null = null;

  /** @internal `openCurator` makes curators. */
  constructor(memory: Memory, journal: Journal, options: z.output<typeof curationOptions>, decide: CurationDecider) {
    this.#memory = memory;
    this.#journal = journal;
    this.#options = options;
    this.#decide = decide;
  }

  /** @internal Takes an entry of the log. */
  take(sequence: number, entry: LogEntry): void {
    if (entry.kind === 'curate') {
      this.#live.set(sequence, entry);
      this.#last = { changes: entry.changes, isUndone: false };
      return;
    }
    if (entry.kind === 'done') {
      this.#last = null;
      return;
    }
    this.#last = { changes: this.#live.get(entry.of)?.changes ?? [], isUndone: true };
    this.#live.delete(entry.of);
  }

  /** @internal Does what a killed process had logged and not done. */
  async finishLast(): Promise<void> {
    if (this.#last === null) return;
    const { changes, isUndone } = this.#last;
    if (isUndone) await this.#move(changes, 'after', 'before');
    else await this.#move(changes, 'before', 'after');
    await this.#log({ kind: 'done' });
  }

  /** The decisions that are not undone, in their order. */
  entries(): readonly CurationEntry[] {
    return [...this.#live.values()];
  }

  /**
   * Decides about a record, logs the decision and does it.
   *
   * @throws DuplicateRecordError for an id that is there, what the search, the decider and `Memory.upsert` throw; nothing is changed then.
   */
  curate(input: MemoryRecordInput): Promise<CurationEntry> {
    return this.#runAlone(async () => {
      const record = parseRow(memoryRecordSchema, input, 'the record');
      const own = { ...record, embedding: record.embedding.slice() };
      if (this.#memory.get(own.id) !== null) throw new DuplicateRecordError('memory', own.id);
      const entry = isSensitive(own) ? this.#passSensitive(own) : await this.#choose(own);
      const sequence = await this.#log(entry);
      try {
        if (isSensitive(own)) await this.#memory.add(own);
        else await this.#move(entry.changes, 'before', 'after');
      } catch (error) {
        await this.#log({ kind: 'undo', of: sequence });
        await this.#log({ kind: 'done' });
        throw error;
      }
      await this.#log({ kind: 'done' });
      return entry;
    });
  }

  #passSensitive({ id }: MemoryRecord): CurationEntry {
    const changes = [{ id, before: null, after: null, withheld: true }];
    return { kind: 'curate', id, operation: 'add', reason: 'sensitive', target: null, neighbours: [], changes };
  }

  async #choose(record: MemoryRecord): Promise<CurationEntry> {
    const neighbours = await this.#findNeighbours(record);
    const choice = await this.#decide(record, neighbours);
    const changes = listChanges(record, choice, this.#options.tombstoneImportance);
    return {
      kind: 'curate',
      id: record.id,
      operation: choice.operation,
      reason: choice.reason,
      target: choice.target?.id ?? null,
      neighbours: neighbours.map(({ record: { id }, cosine }) => ({ id, cosine })),
      changes,
    };
  }

  /** The nearest records but for sensitive ones and tombstones, which are left out after the search: a filter would be compiled again after every write. */
  async #findNeighbours({ embedding }: MemoryRecord): Promise<Neighbour[]> {
    const { neighbours, indexName } = this.#options;
    const name = indexName ?? (this.#memory.indexNames[0] as string);
    for (let k = neighbours; ; k *= 2) {
      const found = await this.#memory.search(name, embedding, k);
      const kept = found.flatMap(({ id }) => this.#compare(id, embedding));
      if (kept.length >= neighbours || found.length < k) return kept.slice(0, neighbours);
    }
  }

  /** A record beside the one that comes in; none for what is not compared. */
  #compare(id: string, embedding: Float32Array): Neighbour[] {
    const record = this.#memory.get(id);
    if (record === null || isSensitive(record) || isTombstone(record)) return [];
    return [{ record, cosine: computeCosine(embedding, record.embedding) }];
  }

  async #log(entry: LogEntry): Promise<number> {
    return this.#journal.append(encodeLogEntry(entry), (sequence) => {
      this.take(sequence, entry);
      return sequence;
    });
  }

  /** Brings records from one side of changes to the other; leaves those that are not on the first side. */
  async #move(changes: readonly RecordChange[], from: 'before' | 'after', to: 'before' | 'after'): Promise<void> {
    const due = changes.filter(
      (change) => !change.withheld && isDeepStrictEqual(this.#memory.get(change.id), change[from]),
    );
    const put = due.flatMap((change) => change[to] ?? []);
    if (put.length > 0) await this.#memory.upsert(put);
    for (const change of due) if (change[to] === null) await this.#memory.remove(change.id);
    // Of a sensitive record the log holds the id alone, so it can be removed and not restored.
    const removed = to === 'before' ? changes.filter(({ withheld }) => withheld) : [];
    for (const { id } of removed) await this.#memory.remove(id);
  }

  /**
   * Undoes decisions, the last one first.
   *
   * @param count 'all': every decision of the log.
   * @returns how many were undone.
   * @throws ValidationError naming a record that was changed since: that decision and the earlier ones stay.
   */
  undo(count: number | 'all' = 1): Promise<number> {
    return this.#runAlone(async () => {
      const due = [...this.#live].reverse().slice(0, count === 'all' ? undefined : count);
      for (const [sequence, entry] of due) {
        this.#assertUnchanged(entry);
        await this.#log({ kind: 'undo', of: sequence });
        await this.#move(entry.changes, 'after', 'before');
        await this.#log({ kind: 'done' });
      }
      return due.length;
    });
  }

  #assertUnchanged({ id, changes }: CurationEntry): void {
    for (const change of changes) {
      if (change.withheld || isDeepStrictEqual(this.#memory.get(change.id), change.after)) continue;
      throw new ValidationError(
        `record ${change.id} was changed after the decision about ${id}; bring it back to what the log holds, then undo again`,
        { id: change.id, decision: id },
      );
    }
  }

  /** Ends writing and releases the folder of the log; the memory stays open. @throws StorageError. */
  async close(): Promise<void> {
    await this.#runAlone(() => this.#journal.close());
  }
}

/**
 * Opens a curator over a memory, with the log of its decisions in a folder. Nothing is curated unless records come in by {@link Curator.curate}.
 *
 * @throws ConfigurationError, WalCorruptedError, UnavailableError, ValidationError for the folder of another log, StorageError.
 */
export async function openCurator(
  memory: Memory,
  folder: string,
  options: CurationOptions = {},
  { decide, ...journalOptions }: CuratorSettings = {},
): Promise<Curator> {
  const checked = parse(curationOptions, options, 'the options of a curation');
  const journal = Journal.open(folder, { ...journalOptions, kind: LOG_NAME });
  try {
    const curator = new Curator(memory, journal, checked, decide ?? createRuleDecider(checked.rules));
    await journal.replay(0, ({ sequence, payload }) => curator.take(sequence, decodeLogEntry(payload, sequence)));
    await curator.finishLast();
    return curator;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
