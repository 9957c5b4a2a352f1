import { isDeepStrictEqual } from 'node:util';
import { ValidationError } from '../../core/errors/errors.ts';
import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { JOURNAL_START, type JournalPosition } from '../../core/journal/position.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { RecordChanges } from '../conservation/salience-stream.ts';

/** The memory whose records a log is about. */
export interface ChangedMemory {
  readonly position: JournalPosition;
  describeLoss(acknowledged: JournalPosition): string | null;
  get(id: string): MemoryRecord | null;
  /**
   * Puts and removes records.
   *
   * @param isRefusable true: the changes as a whole are refused if they break a law of conservation and the memory
   *   refuses such changes. What is undone or finished is not refused.
   */
  change(changes: RecordChanges, isRefusable: boolean): Promise<void>;
}

/** A record before and after an operation; null: it was not there. */
export interface RecordChange {
  readonly id: string;
  readonly before: MemoryRecord | null;
  readonly after: MemoryRecord | null;
  /** True if the record is sensitive, so that the log holds its id alone. */
  readonly withheld: boolean;
}

/** What was decided about records, with what is needed to undo it. */
export interface Decision {
  /** What decides, such as `curate`: the same for a whole log. */
  readonly kind: string;
  /** What it is about, in messages. */
  readonly id: string;
  readonly changes: readonly RecordChange[];
}

/** That a memory has what the entry before says, after its change `position`. */
export interface Done {
  readonly kind: 'done';
  readonly position: JournalPosition;
}

/** An entry of the log: a decision, the undoing of the one with the sequence `of`, and that the memory has what the entry before says. */
export type LogEntry<D extends Decision> = D | { readonly kind: 'undo'; readonly of: number } | Done;

/** The vector as base64 of its float32, which keeps every bit. */
function packValue(key: string, value: unknown): unknown {
  if (key !== 'embedding' || !(value instanceof Float32Array)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}

function unpackValue(key: string, value: unknown): unknown {
  if (key !== 'embedding' || typeof value !== 'string') return value;
  const bytes = Uint8Array.from(Buffer.from(value, 'base64')); // a buffer of its own, aligned
  return new Float32Array(bytes.buffer);
}

const encodeEntry = (entry: LogEntry<Decision>): Uint8Array => Buffer.from(JSON.stringify(entry, packValue));

/** What a log is called, and the kind of its decisions. */
export interface ChangeLogName {
  readonly name: string;
  readonly kind: string;
}

/** @throws ValidationError with the entry. */
function decodeEntry<D extends Decision>(payload: Uint8Array, sequence: number, log: ChangeLogName): LogEntry<D> {
  try {
    const entry = JSON.parse(Buffer.from(payload).toString('utf8'), unpackValue) as LogEntry<D>;
    if ([log.kind, 'undo', 'done'].includes(entry.kind)) return entry;
  } catch {
    // reported below
  }
  const remedy = 'open the folder with the program that wrote it';
  throw new ValidationError(`entry ${sequence} of the journal is of no ${log.name}; ${remedy}`, { sequence });
}

/**
 * Decisions about the records of a memory. Each is in a journal before it is done, so that a killed process finishes it when the log is opened again, and each
 * can be undone. One caller at a time. Open one with {@link openChangeLog}.
 */
export class ChangeLog<D extends Decision> {
  readonly #memory: ChangedMemory;
  readonly #journal: Journal;
  /** Decisions that are not undone, by sequence, the last one last. */
  readonly #live = new Map<number, D>();
  /** What the last entry of the log does, until that is done. */
  #last: { readonly changes: readonly RecordChange[]; readonly isUndone: boolean } | null = null;
  /** The last change of the memory that is known to have been made. */
  #done: JournalPosition = JOURNAL_START;
  #warnings: readonly string[] = [];

  /** @internal `openChangeLog` makes logs. */
  constructor(memory: ChangedMemory, journal: Journal) {
    this.#memory = memory;
    this.#journal = journal;
  }

  /** @internal Takes an entry of the log. */
  take(sequence: number, entry: LogEntry<D>): void {
    if (entry.kind === 'done') {
      this.#last = null;
      this.#done = (entry as Done).position;
      return;
    }
    if (entry.kind === 'undo') {
      const { of } = entry as { readonly of: number };
      this.#last = { changes: this.#live.get(of)?.changes ?? [], isUndone: true };
      this.#live.delete(of);
      return;
    }
    this.#live.set(sequence, entry as D);
    this.#last = { changes: (entry as D).changes, isUndone: false };
  }

  /** Sentences about acknowledged changes that the opening found missing in the log or in the memory. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** @internal Does what a killed process had logged and not done. */
  async finishLast(): Promise<void> {
    this.#warnings = [...this.#journal.warnings, ...[this.#memory.describeLoss(this.#done) ?? []].flat()];
    if (this.#last === null) return;
    const { changes, isUndone } = this.#last;
    if (isUndone) await this.#move(changes, 'after', 'before');
    else await this.#move(changes, 'before', 'after');
    await this.#logDone();
  }

  async #logDone(): Promise<void> {
    await this.#log({ kind: 'done', position: this.#memory.position });
  }

  /** The decisions that are not undone, in their order. */
  decisions(): readonly D[] {
    return [...this.#live.values()];
  }

  async #log(entry: LogEntry<D>): Promise<number> {
    return this.#journal.append(encodeEntry(entry), (sequence) => {
      this.take(sequence, entry);
      return sequence;
    });
  }

  /**
   * Logs a decision and does it.
   *
   * @param perform does it; default: the changes.
   * @throws what it throws; nothing is changed then.
   */
  async perform(decision: D, perform?: () => Promise<unknown>): Promise<void> {
    const sequence = await this.#log(decision);
    try {
      await (perform?.() ?? this.#move(decision.changes, 'before', 'after', true));
    } catch (error) {
      await this.#log({ kind: 'undo', of: sequence });
      await this.#logDone();
      throw error;
    }
    await this.#logDone();
  }

  /** Brings records from one side of changes to the other; leaves those that are not on the first side. */
  async #move(
    changes: readonly RecordChange[],
    from: 'before' | 'after',
    to: 'before' | 'after',
    isRefusable = false,
  ): Promise<void> {
    const due = changes.filter(
      (change) => !change.withheld && isDeepStrictEqual(this.#memory.get(change.id), change[from]),
    );
    const put = due.flatMap((change) => change[to] ?? []);
    // Of a sensitive record the log holds the id alone, so it can be removed and not restored.
    const withheld = to === 'before' ? changes.filter((change) => change.withheld) : [];
    const removed = [...due.filter((change) => change[to] === null), ...withheld].map(({ id }) => id);
    if (put.length + removed.length > 0) await this.#memory.change({ put, removed }, isRefusable);
  }

  /**
   * Undoes decisions, the last one first.
   *
   * @param count 'all': every decision of the log.
   * @returns how many were undone.
   * @throws ValidationError naming a record that was changed since: that decision and the earlier ones stay.
   */
  async undo(count: number | 'all' = 1): Promise<number> {
    const due = [...this.#live].reverse().slice(0, count === 'all' ? undefined : count);
    for (const [sequence, decision] of due) {
      this.#assertUnchanged(decision);
      await this.#log({ kind: 'undo', of: sequence });
      await this.#move(decision.changes, 'after', 'before');
      await this.#logDone();
    }
    return due.length;
  }

  #assertUnchanged({ id, changes }: D): void {
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
    await this.#journal.close();
  }
}

/**
 * Opens the log of decisions about a memory in a folder.
 *
 * @throws WalCorruptedError, UnavailableError, ValidationError for the folder of another log, StorageError.
 */
export async function openChangeLog<D extends Decision>(
  memory: ChangedMemory,
  folder: string,
  log: ChangeLogName,
  options: Pick<JournalOptions, 'fsync'> = {},
): Promise<ChangeLog<D>> {
  const journal = Journal.open(folder, { ...options, kind: log.name });
  try {
    const changes = new ChangeLog<D>(memory, journal);
    await journal.replay(JOURNAL_START, ({ sequence, payload }) =>
      changes.take(sequence, decodeEntry(payload, sequence, log)),
    );
    await changes.finishLast();
    return changes;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
