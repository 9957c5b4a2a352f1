import {
  RagPlusPlusError,
  ReplicationError,
  ShardError,
  StorageError,
  UnavailableError,
} from '../../../core/errors/errors.ts';

export type SqlValue = string | number | boolean | null | readonly string[];
export type SqlRow = Readonly<Record<string, unknown>>;

/** Statements of one transaction. */
export interface SqlSession {
  /** Of one or, without parameters, several statements. */
  query(sql: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Of one statement: the server refuses several, whatever they hold. */
  queryOne(sql: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Loads rows in Postgres' binary format into `target`, a table with its columns. */
  copyIn(target: string, payload: Uint8Array): Promise<void>;
}

/** A Postgres with pgvector: inside this process or a server. */
export interface SqlDatabase {
  /** For messages: without a password. */
  readonly address: string;
  /**
   * Runs work in a transaction: all of it is stored or nothing.
   *
   * @param signal rolls the transaction back when it is aborted: before the next statement, and on a server in the middle of one.
   */
  transaction<T>(work: (session: SqlSession) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Writes a table and its indexes to new files, outside a transaction, so that no file of theirs has a removed row. A
   * Postgres inside this process begins a new log too; that of a server is its own.
   *
   * @param table its name, which needs no escape.
   * @throws StorageError if the server keeps removed rows for a transaction that stays open for some seconds.
   */
  vacuum(table: string): Promise<void>;
  dispose(): Promise<void>;
}

const LOST = /^(?:08...|57P0[123]|ECONN\w+|EPIPE|ENOENT|ETIMEDOUT|ENOTFOUND)$/;
const LOST_MESSAGE = /connection terminated|connection error|timeout expired|not queryable/i;

function isConnectionLost(error: Error): boolean {
  const { code } = error as { readonly code?: unknown };
  return LOST.test(String(code)) || LOST_MESSAGE.test(error.message);
}

/** SQLSTATE of a write where nothing may be written, as on a standby. */
const READ_ONLY = '25006';
/** A standby cancels a search that reads what the primary has removed meanwhile. */
const CANCELLED_BY_STANDBY = /conflict with recovery/;
/** A row for which a table that is divided has no part, and a server of a part that does not answer. */
const SHARD_FAULTS = [
  [/no partition of relation "(.*)" found for row/, 'add the partition that the row belongs to'],
  [/could not connect to server "(.*)"/, 'start the server of this part'],
] as const;

/** The error of a copy or of a part of a table; null for any other. */
function convertPartError(error: Error, address: string): ReplicationError | ShardError | null {
  const { message } = error;
  const options = { cause: error };
  if ((error as { readonly code?: unknown }).code === READ_ONLY)
    return new ReplicationError(address, message, 'name a server that takes writes', options);
  if (CANCELLED_BY_STANDBY.test(message)) return new ReplicationError(address, message, 'repeat the search', options);
  for (const [fault, remedy] of SHARD_FAULTS) {
    const shard = fault.exec(message)?.[1];
    if (shard !== undefined) return new ShardError(`${shard} at ${address}`, message, remedy, options);
  }
  return null;
}

/** The error of the package for one of Postgres or of the connection. */
export function convertDatabaseError(error: unknown, address: string): Error {
  if (error instanceof RagPlusPlusError || !(error instanceof Error)) return error as Error;
  if (error.name === 'AbortError') return error;
  const message = error.message || String((error as { readonly code?: unknown }).code);
  const options = { cause: error };
  const ofPart = convertPartError(error, address);
  if (ofPart !== null) return ofPart;
  if (isConnectionLost(error)) {
    const remedy = 'start the server and repeat the call; a write without an answer is stored as a whole or not at all';
    return new UnavailableError(`Postgres at ${address}`, `${message}; ${remedy}`, options);
  }
  if (/extension "vector" is not available/.test(message))
    return new UnavailableError(`pgvector at ${address}`, `${message}; install pgvector on the server`, options);
  return new StorageError('use Postgres', address, { ...options, remedy: 'correct what Postgres reports' });
}

/** Writes a table to new files, whatever its free space has, and counts its values again. */
export const writeVacuum = (table: string) => `vacuum (full, analyze, verbose) "${table}"`;

interface SharedDatabase {
  users: number;
  database: Promise<SqlDatabase> | null;
  /** The end of the database before, which may hold the same files. */
  closed: Promise<void>;
}

/** By their addresses. */
const shared = new Map<string, SharedDatabase>();

/**
 * A database of this process that its users share: opened for the first of them, disposed with the last.
 *
 * @param address names the database; users of one address get one database.
 * @throws what `open` throws; the next user tries again.
 */
export async function shareDatabase(address: string, open: () => Promise<SqlDatabase>): Promise<SqlDatabase> {
  const entry = shared.get(address) ?? { users: 0, database: null, closed: Promise.resolve() };
  shared.set(address, entry);
  entry.users++;
  entry.database ??= entry.closed.then(open);
  const { database } = entry;
  let hasLeft = false;
  const leave = async () => {
    if (hasLeft) return;
    hasLeft = true;
    entry.users--;
    if (entry.users > 0) return;
    entry.database = null;
    const closing = database.then(
      (opened) => opened.dispose(),
      () => {}, // its users have the error
    );
    entry.closed = closing.catch(() => {});
    await closing.finally(() => {
      if (entry.users === 0) shared.delete(address);
    });
  };
  try {
    return { ...(await database), dispose: leave };
  } catch (error) {
    await leave();
    throw error;
  }
}
