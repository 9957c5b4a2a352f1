import { QueryError, StorageError } from '../../../core/errors/errors.ts';
import { connectPostgres } from '../../../index/vectors/postgres/postgres-database.ts';
import type { SqlSession, SqlValue } from '../../../index/vectors/postgres/sql-database.ts';
import type { DomainDatabase, DomainRow, DomainValue } from './domain-options.ts';

/** How long one statement may take on the server. */
const STATEMENT_MILLISECONDS = 10_000;

/** A cursor takes one statement that returns rows, and no other. */
const CURSOR = 'ragpp_domain';

async function readRows(
  session: SqlSession,
  sql: string,
  values: readonly SqlValue[],
  limit: number,
): Promise<readonly DomainRow[]> {
  await session.query('set transaction read only');
  await session.query(`set local statement_timeout = ${STATEMENT_MILLISECONDS}`);
  // A text of several statements could end the transaction: the server takes one.
  await session.queryOne(`declare ${CURSOR} no scroll cursor for ${sql}`, values);
  const rows = await session.query(`fetch ${limit} from ${CURSOR}`);
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toDomainValue(value)])),
  );
}

function toDomainValue(value: unknown): DomainValue {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  return value instanceof Date ? value.toISOString() : String(value);
}

/**
 * Connects to Postgres for reading: each statement is the query of a cursor in a read-only transaction, with a time limit on the server. Give it a user that may do no
 * more than SELECT: a function that a SELECT calls acts with the rights of that user.
 *
 * @param url `postgres://user:password@host:port/database`
 * @throws UnavailableError for a missing package; ValidationError for a connection string that cannot be read.
 */
export async function openPostgresDomain(url: string): Promise<DomainDatabase> {
  const database = await connectPostgres(url);
  return {
    address: database.address,
    async read(sql, values, limit, signal) {
      try {
        return await database.transaction((session) => readRows(session, sql, values, limit), signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof StorageError)) throw error;
        const { message } = (error.cause ?? error) as Error;
        throw new QueryError(
          `Postgres refused ${JSON.stringify(sql)}: ${message}; correct the SQL`,
          { sql },
          { cause: error },
        );
      }
    },
    dispose: () => database.dispose(),
  };
}
