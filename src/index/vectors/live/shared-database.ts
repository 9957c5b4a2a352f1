import type { SqlDatabase } from './sql-database.ts';

interface SharedDatabase {
  users: number;
  database: Promise<SqlDatabase> | null;
  /** The end of the database before, which may hold the same files. */
  closed: Promise<void>;
}

/** By the names of their places. */
const shared = new Map<string, SharedDatabase>();

/**
 * A database of this process that its users share: opened for the first of them, disposed with the last.
 *
 * @param address names the database; users of one place get one database.
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
