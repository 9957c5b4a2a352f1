import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { convertDatabaseError, importOptional, type SqlDatabase, type SqlRow } from './sql-database.ts';

/** Connections of one index. Writers wait for each other in the database anyway. */
const CONNECTIONS = 4;
const CONNECT_MILLISECONDS = 5000;

/** Host, port and database of a connection string. */
function describeUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/**
 * A Postgres server with pgvector. A lost connection is an UnavailableError of the call that needed it; the next call connects again.
 *
 * @param url `postgres://user:password@host:port/database`
 * @throws UnavailableError when the package pg is not installed.
 */
export async function connectPostgres(url: string): Promise<SqlDatabase> {
  const load = () => Promise.all([import('pg'), import('pg-copy-streams')]);
  const [{ default: pg }, { from: copyFrom }] = await importOptional(load, 'pg', 'pg pg-copy-streams');
  const place = describeUrl(url);
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    allowExitOnIdle: true,
  });
  pool.on('error', () => {}); // an idle connection was lost; the pool has dropped it, and the next call opens another
  const runIn = async <T>(client: PoolClient, work: Parameters<SqlDatabase['transaction']>[0]): Promise<T> => {
    await client.query('begin');
    const result = await work({
      query: async (sql, parameters = []) => (await client.query<SqlRow>(sql, [...parameters])).rows,
      copyIn: async (target, payload) => {
        const stream = client.query(copyFrom(`copy ${target} from stdin with (format binary)`));
        await pipeline(Readable.from([payload]), stream);
      },
    });
    await client.query('commit');
    return result as T;
  };
  return {
    place,
    async transaction<T>(work: Parameters<SqlDatabase['transaction']>[0]): Promise<T> {
      let client: PoolClient | undefined;
      let lost: Error | undefined;
      const noteLoss = (error: Error) => {
        lost = error;
      };
      try {
        client = await pool.connect();
        client.on('error', noteLoss); // without a listener a lost connection would end the process
        return await runIn<T>(client, work);
      } catch (error) {
        const failed = await client?.query('rollback').then(
          () => undefined,
          (failure: Error) => failure,
        );
        lost ??= failed;
        throw convertDatabaseError(error, place);
      } finally {
        client?.off('error', noteLoss);
        client?.release(lost);
      }
    },
    dispose: () => pool.end(),
  } as SqlDatabase;
}
