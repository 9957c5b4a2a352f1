import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { PRIVATE_MODE, readPrivateFile } from '../../core/files/private-file.ts';
import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { JOURNAL_START } from '../../core/journal/position.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import type { LogContent } from '../store/removal.ts';
import {
  decodeLogEntry,
  encodeLogEntry,
  forgetRetrieved,
  type RetrievalEvent,
  type RetrievalLogEntry,
} from './retrieval-event.ts';

/** The file with the key, in the folder of its log. */
const FILE = 'key';
const KEY_BYTES = 32;
const KEY = new RegExp(`^[0-9a-f]{${2 * KEY_BYTES}}$`);
/** Hex digits of a hash: 128 bits. */
const HASH_DIGITS = 32;

/** Kinds of hashed texts: the same text has another hash as another thing. */
type HashedThing = 'query' | 'session' | 'memory';

/** HMAC-SHA-256 of a text under the key of a log, cut to 128 bits in hex. */
type HashText = (thing: HashedThing, text: string) => string;

/**
 * The hash under the key of a log. A log without entries gets a key, drawn by the system, in a file with mode 0600.
 *
 * @param entries of the log: those of a lost key can no longer be read.
 * @throws StorageError for a file that others may read; ValidationError for a missing key of a log with entries, and
 *   for another content.
 */
function openLogKey(folder: string, entries: number): HashText {
  const path = join(folder, FILE);
  if (!existsSync(path)) {
    if (entries > 0)
      throw new ValidationError(`key of a log with ${entries} entries is missing: ${path}; restore it from a copy`, {
        path,
      });
    writeAtomic(path, `${randomBytes(KEY_BYTES).toString('hex')}\n`, PRIVATE_MODE);
  }
  const text = readPrivateFile(path, 'restore it from a copy').trim();
  if (!KEY.test(text))
    throw new ValidationError(`key of a log is not ${2 * KEY_BYTES} hex digits: ${path}; restore it from a copy`, {
      path,
    });
  const key = Buffer.from(text, 'hex');
  return (thing, value) => createHmac('sha256', key).update(`${thing}\0${value}`).digest('hex').slice(0, HASH_DIGITS);
}

/** The content of a closed log of retrievals. @throws as {@link openRetrievalLog}. */
export function readRetrievals(folder: string, payloads: readonly Uint8Array[]): LogContent {
  const entries = payloads.map((payload, i) => decodeLogEntry(payload, i + 1));
  const hash = openLogKey(folder, entries.length);
  return {
    records: [],
    forget({ ids }) {
      const hashes = new Set(Array.from(ids, (id) => hash('memory', id)));
      const kept = entries.map((entry) => forgetRetrieved(entry, hashes));
      const changed = kept.filter((entry, i) => entry !== entries[i]).length;
      return { entries: kept.map(encodeLogEntry), changed };
    },
  };
}

const LOG_NAME = 'log of retrievals';

/** A retrieval as the caller knows it. */
export interface Retrieval {
  /** The text of the question; the log keeps a hash of it. */
  readonly query: string;
  /** Retrievals of one session are not independent. Default: of none. */
  readonly session?: string | null;
  /** Ids, best first. */
  readonly retrieved: readonly string[];
  /** The name of what chose the ranking. */
  readonly strategy: string;
  /** The probability with which it was chosen, above 0. Default 1. */
  readonly propensity?: number;
  /** Of an interleaved ranking: which system chose each place. */
  readonly teams?: readonly ('a' | 'b')[] | null;
  /** Milliseconds since 1970. */
  readonly time: number;
}

const refuse = (what: string, value: unknown, remedy: string) =>
  new ValidationError(`${what}: ${String(value)}; ${remedy}`, { value });

function assertTime(time: number): void {
  if (!Number.isSafeInteger(time)) throw refuse('time is no whole number', time, 'pass milliseconds since 1970');
}

function assertRetrieval({ retrieved, strategy, propensity = 1, teams, time }: Retrieval): void {
  assertTime(time);
  if (strategy === '') throw refuse('strategy has no name', '""', 'name what chose the ranking');
  if (!(propensity > 0 && propensity <= 1))
    throw refuse('propensity is no probability above 0', propensity, 'pass a number above 0 and at most 1');
  if (new Set(retrieved).size < retrieved.length)
    throw refuse('an id was retrieved twice', retrieved.join(', '), 'pass each id once');
  if (teams && teams.length !== retrieved.length)
    throw refuse(`teams of ${retrieved.length} ids`, teams.length, 'pass one team for each id');
}

/**
 * An append-only log of retrievals and of what was of use, in a journal. No text and no id is kept: query, session and
 * ids are hashed by HMAC under a key of the log, so that the same question is recognised and nobody without the key can
 * try out texts. Strategies are kept by name. Open one with `openRetrievalLog`.
 */
export class RetrievalLog {
  readonly #journal: Journal;
  readonly #events = new Map<number, RetrievalEvent>();
  readonly #runAlone = createSerialRunner();
  #hash: HashText | null = null;

  /** @internal `openRetrievalLog` makes logs. */
  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** @internal Reads the entries, then the key. */
  async restore(): Promise<void> {
    await this.#journal.replay(JOURNAL_START, ({ sequence, payload }) =>
      this.#take(sequence, decodeLogEntry(payload, sequence)),
    );
    this.#hash = openLogKey(this.#journal.folder, this.#journal.sequence);
  }

  /** The hash of a query, a session or the id of a memory, as events have it: 32 hex digits. */
  hash: HashText = (thing, text) => (this.#hash as HashText)(thing, text);

  /** Sentences about acknowledged entries that the opening found missing at the end. */
  get warnings(): readonly string[] {
    return this.#journal.warnings;
  }

  /** All retrievals in their order, each with what is known of its use. */
  events(): RetrievalEvent[] {
    return [...this.#events.values()];
  }

  #take(sequence: number, entry: RetrievalLogEntry): void {
    if (entry.kind === 'retrieval') {
      const { kind: _, ...event } = entry;
      this.#events.set(sequence, { event: sequence, ...event, used: null });
      return;
    }
    const event = this.#events.get(entry.of);
    if (event === undefined)
      throw refuse(`entry ${sequence} is about a retrieval that is missing`, entry.of, 'restore the log from a copy');
    this.#events.set(entry.of, { ...event, used: entry.used });
  }

  #append(entry: RetrievalLogEntry): Promise<number> {
    return this.#journal.append(encodeLogEntry(entry), (sequence) => {
      this.#take(sequence, entry);
      return sequence;
    });
  }

  /**
   * Logs a retrieval.
   *
   * @returns the number of the event, which {@link recordUse} takes.
   * @throws ValidationError for a time, propensity or teams that cannot be, and an id that is there twice;
   *   StorageError.
   */
  async record(retrieval: Retrieval): Promise<number> {
    assertRetrieval(retrieval);
    const { query, session = null, retrieved, strategy, propensity = 1, teams = null, time } = retrieval;
    return this.#append({
      kind: 'retrieval',
      query: this.hash('query', query),
      session: session === null ? null : this.hash('session', session),
      retrieved: retrieved.map((id) => this.hash('memory', id)),
      ...{ strategy, propensity, time },
      teams: teams === null ? null : [...teams],
    });
  }

  /**
   * Logs what of a retrieval was of use; an empty list says that nothing was.
   *
   * @throws ValidationError for an event that is unknown or whose use is known, for ids that it did not retrieve, and
   *   for a time before it; StorageError.
   */
  recordUse(event: number, used: readonly string[], time: number): Promise<void> {
    return this.#runAlone(async () => {
      assertTime(time);
      const found = this.#events.get(event);
      if (found === undefined) throw refuse('no such event', event, 'pass the number that record returned');
      if (found.used !== null) throw refuse('use of an event is known', event, 'record the use of an event once');
      if (time < found.time) throw refuse(`time is before that of event ${event}`, time, `pass ${found.time} or later`);
      const hashed = new Set(used.map((id) => this.hash('memory', id)));
      const foreign = used.find((id) => !found.retrieved.includes(this.hash('memory', id)));
      if (foreign !== undefined) throw refuse(`event ${event} did not retrieve`, foreign, 'pass ids that it retrieved');
      const entry = { kind: 'use', of: event, used: found.retrieved.filter((id) => hashed.has(id)), time } as const;
      await this.#append(entry);
    });
  }

  /** Ends writing and releases the folder. @throws StorageError. */
  close(): Promise<void> {
    return this.#runAlone(() => this.#journal.close());
  }
}

/**
 * Opens a log of retrievals; makes its folder and its key if they are missing. The key is in the file `key` (mode
 * 0600): without it nobody can tell which query or memory a hash stands for.
 *
 * @throws WalCorruptedError, UnavailableError naming the process that has the folder, ValidationError for the folder of
 *   another log or a lost key, StorageError for a key that others may read.
 */
export async function openRetrievalLog(
  folder: string,
  options: Pick<JournalOptions, 'fsync' | 'intervalMs'> = {},
): Promise<RetrievalLog> {
  const journal = Journal.open(folder, { ...options, kind: LOG_NAME });
  try {
    const log = new RetrievalLog(journal);
    await log.restore();
    return log;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
