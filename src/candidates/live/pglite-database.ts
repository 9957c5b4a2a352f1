import { resolve } from 'node:path';
import { makeFolder } from '../../core/files.ts';
import { convertDatabaseError, importOptional, type SqlDatabase, type SqlRow } from './sql-database.ts';

const PACKAGES = '@electric-sql/pglite@0.5.14 @electric-sql/pglite-pgvector@0.0.15';

/** Where PGlite reads the bytes that are sent with a statement. */
const SENT = "'/dev/blob'";

/** Open databases by folder, with their users: two of one folder would damage each other's files. */
const opened = new Map<string, { readonly database: Promise<SqlDatabase>; users: number }>();

async function startPglite(folder: string | null): Promise<SqlDatabase> {
  const place = folder ?? 'memory';
  const load = () => Promise.all([import('@electric-sql/pglite'), import('@electric-sql/pglite-pgvector')]);
  const [{ PGlite }, { vector }] = await importOptional(load, 'PGlite', PACKAGES);
  if (folder !== null) makeFolder(folder);
  const pglite = await PGlite.create({ extensions: { vector }, ...(folder === null ? {} : { dataDir: folder }) }).catch(
    (error: unknown) => Promise.reject(convertDatabaseError(error, place)),
  );
  return {
    place,
    async transaction(work) {
      try {
        return await pglite.transaction((session) =>
          work({
            query: async (sql, parameters = []) => (await session.query<SqlRow>(sql, [...parameters])).rows,
            copyIn: async (target, payload) => {
              const blob = new Blob([payload as Uint8Array<ArrayBuffer>]);
              await session.query(`copy ${target} from ${SENT} with (format binary)`, [], { blob });
            },
          }),
        );
      } catch (error) {
        throw convertDatabaseError(error, place);
      }
    },
    dispose: () => pglite.close(),
  };
}

/**
 * Postgres inside this process (PGlite), with pgvector. Indexes of one folder share it. One process at a time may use a folder.
 *
 * @param folder where it stores its files; null: in memory, for one user alone.
 * @throws UnavailableError when PGlite is not installed, StorageError when the folder cannot be used.
 */
export async function openPglite(folder: string | null): Promise<SqlDatabase> {
  if (folder === null) return startPglite(null);
  const path = resolve(folder);
  const entry = opened.get(path) ?? { database: startPglite(path), users: 0 };
  opened.set(path, entry);
  entry.users++;
  const leave = async () => {
    entry.users--;
    if (entry.users > 0) return;
    opened.delete(path);
    await (await entry.database).dispose();
  };
  try {
    return { ...(await entry.database), dispose: leave };
  } catch (error) {
    opened.delete(path);
    throw error;
  }
}
