import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { Journal } from '../../core/journal/journal.ts';
import { JOURNAL_START } from '../../core/journal/position.ts';
import { listSegments } from '../../core/journal/segments.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { readDecisions } from '../changes/logged-decisions.ts';
import { readFacts, readSavedFacts } from '../facts/fact-store.ts';
import { readRetrievals } from '../retrievals/retrieval-log.ts';
import type { Forgotten, LogContent } from '../store/removal.ts';

const KIND = 'log of a memory';

/** Folders that the memory itself writes. */
const OWN = /^(?:indexes|removal(?:\.partial)?|snapshot-\d{16}(?:\.partial)?)$/;

/** The folders within the folder of a memory that have a journal. @throws StorageError. */
function listLogs(folder: string): string[] {
  const list = (inner: string): string[] => {
    const entries = readdirSync(inner, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return entries.flatMap(({ name }) => {
      const path = join(inner, name);
      return inner === folder && OWN.test(name)
        ? []
        : [...(listSegments(path).length > 0 ? [path] : []), ...list(path)];
    });
  };
  try {
    return list(folder).sort();
  } catch (error) {
    throw new StorageError('read', folder, { cause: error });
  }
}

/** The kind of an entry of a log; undefined for bytes of something else. */
function readKind(payload: Uint8Array | undefined): unknown {
  try {
    return (JSON.parse(Buffer.from(payload ?? []).toString('utf8')) as { readonly kind?: unknown } | null)?.kind;
  } catch {
    return undefined;
  }
}

const EMPTY: LogContent = { records: [], forget: () => ({ entries: [], changed: 0 }) };

/** Reads a log by what its first entry is. @throws ValidationError for a journal of something else. */
async function readContent(journal: Journal): Promise<LogContent> {
  const { folder } = journal;
  const facts = await readSavedFacts(folder);
  const payloads: Uint8Array[] = [];
  await journal.replay(facts?.position ?? JOURNAL_START, ({ payload }) => void payloads.push(payload));
  const kind = readKind(payloads[0]);
  if (facts !== null || kind === 'assert') return readFacts(facts, payloads);
  if (payloads.length === 0) return EMPTY;
  if (kind === 'retrieval') return readRetrievals(folder, payloads);
  const decisions = kind === undefined ? null : readDecisions(payloads);
  if (decisions !== null) return decisions;
  throw new ValidationError(
    `folder has a journal that is no ${KIND}: ${folder}; move it out of the folder of the memory, then remove again`,
    { folder },
  );
}

interface OpenLog {
  /** Within the folder of the memory. */
  readonly path: string;
  readonly journal: Journal;
  content: LogContent;
}

/** The part of a removal in a log. */
export interface ForgottenEntries {
  /** The folder of the log, within that of the memory. */
  readonly log: string;
  /** Entries without what they said of removed records. */
  readonly entries: number;
}

/**
 * The logs in the folder of a memory: decisions, retrievals and facts. They are read, and while they are open no other
 * program can write to them.
 */
export class FolderLogs {
  readonly #logs: OpenLog[] = [];

  /**
   * @param folder of a memory; null: none, and no logs.
   * @param readOnly true if the logs are not replaced; then others may write to them.
   * @throws UnavailableError naming the process that has a log open; ValidationError for a journal of something else;
   *   WalCorruptedError; StorageError.
   */
  static async open(folder: string | null, readOnly: boolean): Promise<FolderLogs> {
    const logs = new FolderLogs();
    try {
      for (const found of folder === null ? [] : listLogs(folder)) {
        const path = relative(folder as string, found)
          .split(sep)
          .join('/');
        const journal = Journal.open(found, { kind: KIND, readOnly });
        const log: OpenLog = { path, journal, content: EMPTY };
        logs.#logs.push(log);
        log.content = await readContent(journal);
      }
      return logs;
    } catch (error) {
      await logs.close();
      throw error;
    }
  }

  /** Within the folder of the memory. */
  get paths(): readonly string[] {
    return this.#logs.map(({ path }) => path);
  }

  /** The records that logs hold, among them those that the memory no longer has. */
  get records(): readonly MemoryRecord[] {
    return this.#logs.flatMap(({ content }) => content.records);
  }

  /** Sentences about entries that an opening found missing at the end of a log. */
  get warnings(): readonly string[] {
    return this.#logs.flatMap(({ journal }) => journal.warnings);
  }

  countForgotten(forgotten: Forgotten): ForgottenEntries[] {
    return this.#logs.map(({ path, content }) => ({ log: path, entries: content.forget(forgotten).changed }));
  }

  /** Writes a log without what is forgotten, as a new journal. @throws StorageError. */
  async writeWithout(forgotten: Forgotten, log: number, folder: string): Promise<void> {
    const { entries } = (this.#logs[log] as OpenLog).content.forget(forgotten);
    const journal = Journal.open(folder, { kind: KIND, fsync: 'interval' });
    try {
      await journal.replay(JOURNAL_START, () => {});
      await Promise.all(entries.map((entry) => journal.append(entry, () => {})));
    } finally {
      await journal.close();
    }
  }

  async close(): Promise<void> {
    for (const { journal } of this.#logs) await journal.close();
  }
}
