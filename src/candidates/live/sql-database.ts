import { RagPlusPlusError, StorageError, UnavailableError } from '../../core/errors.ts';

export type SqlValue = string | number | boolean | null | readonly string[];
export type SqlRow = Readonly<Record<string, unknown>>;

/** Statements of one transaction. */
export interface SqlSession {
  query(sql: string, parameters?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Loads rows in Postgres' binary format into `target`, a table with its columns. */
  copyIn(target: string, payload: Uint8Array): Promise<void>;
}

/** A Postgres with pgvector: inside this process or a server. */
export interface SqlDatabase {
  /** For messages: without a password. */
  readonly place: string;
  /** Runs work in a transaction: all of it is stored or nothing. */
  transaction<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  dispose(): Promise<void>;
}

const LOST = /^(?:08...|57P0[123]|ECONN\w+|EPIPE|ENOENT|ETIMEDOUT|ENOTFOUND)$/;
const LOST_MESSAGE = /connection terminated|connection error|timeout exceeded when trying to connect|not queryable/i;

function isConnectionLost(error: Error): boolean {
  const { code } = error as { readonly code?: unknown };
  return LOST.test(String(code)) || LOST_MESSAGE.test(error.message);
}

/** The error of the package for one of Postgres or of the connection. */
export function convertDatabaseError(error: unknown, place: string): Error {
  if (error instanceof RagPlusPlusError || !(error instanceof Error)) return error as Error;
  if (error.name === 'AbortError') return error;
  const message = error.message || String((error as { readonly code?: unknown }).code);
  const options = { cause: error };
  if (isConnectionLost(error)) {
    const remedy = 'start the server and repeat the call; a write without an answer is stored as a whole or not at all';
    return new UnavailableError(`Postgres at ${place}`, `${message}; ${remedy}`, options);
  }
  if (/extension "vector" is not available/.test(message))
    return new UnavailableError(`pgvector at ${place}`, `${message}; install pgvector on the server`, options);
  return new StorageError('use Postgres', place, { ...options, remedy: 'correct what Postgres reports' });
}

/**
 * Imports a package that not every installation has.
 *
 * @throws UnavailableError with the command that installs it.
 */
export async function importOptional<T>(load: () => Promise<T>, what: string, packages: string): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UnavailableError(what, `a package is missing; npm install ${packages}`, { cause: error });
  }
}
