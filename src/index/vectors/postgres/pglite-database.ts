import { realpathSync } from 'node:fs';
import { importOptional } from '../../../core/code/optional-packages.ts';
import { makeFolder } from '../../../core/files/files.ts';
import { FolderLock } from '../../../core/files/folder-lock.ts';
import { convertDatabaseError, type SqlDatabase, type SqlRow, shareDatabase, writeVacuum } from './sql-database.ts';

interface Session {
  query(sql: string, parameters?: unknown[], options?: { readonly blob: Blob }): Promise<{ readonly rows: SqlRow[] }>;
}

/** The part of @electric-sql/pglite that indexes use. */
interface Pglite extends Session {
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface PglitePackage {
  readonly PGlite: {
    create(options: { readonly extensions: object; readonly dataDir?: string }): Promise<Pglite>;
  };
}

const PACKAGES = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'] as const;

const loadPackages = (): Promise<[PglitePackage, { readonly vector: object }]> =>
  Promise.all([import('@electric-sql/pglite' as string), import('@electric-sql/pglite-pgvector' as string)]);

/** Writes statistics to new files, and begins a new log; files of the log before it are deleted, not used again. */
const NEW_LOG = ['vacuum full pg_statistic', 'set wal_recycle = off', 'select pg_switch_wal()', 'checkpoint'] as const;

/** Where PGlite reads the bytes that are sent with a statement. */
const SENT = "'/dev/blob'";

async function startPglite(folder: string | null): Promise<SqlDatabase> {
  const address = folder ?? 'memory';
  const [{ PGlite }, { vector }] = await importOptional(loadPackages, 'PGlite', PACKAGES);
  const pglite = await PGlite.create({ extensions: { vector }, ...(folder === null ? {} : { dataDir: folder }) }).catch(
    (error: unknown) => Promise.reject(convertDatabaseError(error, address)),
  );
  return {
    address,
    async transaction(work, signal) {
      try {
        return await pglite.transaction((session) =>
          work({
            query: async (sql, parameters = []) => {
              signal?.throwIfAborted();
              return (await session.query(sql, [...parameters])).rows;
            },
            queryOne: async (sql, parameters) => {
              signal?.throwIfAborted();
              return (await session.query(sql, [...parameters])).rows;
            },
            copyIn: async (target, payload) => {
              const blob = new Blob([payload as Uint8Array<ArrayBuffer>]);
              await session.query(`copy ${target} from ${SENT} with (format binary)`, [], { blob });
            },
          }),
        );
      } catch (error) {
        signal?.throwIfAborted();
        throw convertDatabaseError(error, address);
      }
    },
    async vacuum(table) {
      try {
        for (const sql of [writeVacuum(table), ...NEW_LOG]) await pglite.query(sql);
      } catch (error) {
        throw convertDatabaseError(error, address);
      }
    },
    dispose: () => pglite.close(),
  };
}

/** PGlite with a folder that no other process may open meanwhile. */
async function startLocked(folder: string): Promise<SqlDatabase> {
  const lock = FolderLock.acquire(folder, 'database folder');
  try {
    const database = await startPglite(folder);
    return { ...database, dispose: () => database.dispose().finally(() => lock.release(folder)) };
  } catch (error) {
    lock.release(folder);
    throw error;
  }
}

/**
 * Postgres inside this process (PGlite), with pgvector. Indexes of one folder share it. One process at a time may use a folder.
 *
 * @param folder where it stores its files; null: in memory, for one user alone.
 * @throws UnavailableError when PGlite is not installed, and for a folder that another process uses, naming that process; StorageError when the folder
 * cannot be used.
 */
export async function openPglite(folder: string | null): Promise<SqlDatabase> {
  if (folder === null) return startPglite(null);
  makeFolder(folder);
  const path = realpathSync(folder);
  return shareDatabase(path, () => startLocked(path));
}
