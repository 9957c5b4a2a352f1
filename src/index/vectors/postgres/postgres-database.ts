import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { importOptional } from '../../../core/code/optional-packages.ts';
import { StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { convertDatabaseError, type SqlDatabase, type SqlRow, type SqlSession, writeVacuum } from './sql-database.ts';

/** Connections of one index: a writer, and searches. */
const CONNECTIONS = 4;
const CONNECT_MILLISECONDS = 5000;
/** The time for which a vacuum is repeated while a transaction keeps removed rows, and the first pause; each doubles. */
const VACUUM_MILLISECONDS = 10_000;
const FIRST_PAUSE_MILLISECONDS = 100;

/** Host, port and database of a connection string. @throws ValidationError, without the text: it may hold a password. */
function describeUrl(url: string): string {
  if (!/^postgres(?:ql)?:\/\//.test(url) || !URL.canParse(url))
    throw new ValidationError(
      'the connection string of Postgres cannot be read; write postgres://user:password@host:port/database, with %2F for / and %40 for @ in a password',
    );
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** How a server is connected to. */
export interface PostgresOptions {
  /** The most connections; with one, whose session is kept, temporary tables remain until it is lost. */
  readonly connections?: number;
  /** The time for which a vacuum waits for open transactions that keep removed rows; by default 10,000. */
  readonly vacuumMilliseconds?: number;
}

/**
 * A Postgres server with pgvector. A lost connection is an UnavailableError of the call that needed it; the next call connects again. An aborted transaction is
 * cancelled in the middle of its statement.
 *
 * @param url `postgres://user:password@host:port/database`
 * @throws UnavailableError when the package pg is not installed; ValidationError for a connection string that cannot be read.
 */
export async function connectPostgres(
  url: string,
  { connections = CONNECTIONS, vacuumMilliseconds = VACUUM_MILLISECONDS }: PostgresOptions = {},
): Promise<SqlDatabase> {
  const address = describeUrl(url);
  const load = () => Promise.all([import('pg'), import('pg-copy-streams')]);
  const [{ default: pg }, { from: copyFrom }] = await importOptional(load, 'pg', ['pg', 'pg-copy-streams']);
  const settings = { connectionString: url, connectionTimeoutMillis: CONNECT_MILLISECONDS };
  const pool = new pg.Pool({
    max: connections,
    idleTimeoutMillis: connections === 1 ? 0 : 10_000,
    allowExitOnIdle: true,
    // Only a connection that is being made has a time limit: a call may wait for another that builds an index.
    Client: class extends pg.Client {
      constructor() {
        super(settings);
      }
    },
  });
  pool.on('error', () => {}); // an idle connection was lost; the pool has dropped it, and the next call opens another

  const openSession = (client: PoolClient, signal?: AbortSignal): SqlSession => ({
    async query(sql, parameters = []) {
      signal?.throwIfAborted();
      return (await client.query<SqlRow>(sql, [...parameters])).rows;
    },
    async queryOne(sql, parameters) {
      signal?.throwIfAborted();
      const query = { text: sql, values: [...parameters], queryMode: 'extended' };
      return (await client.query<SqlRow>(query)).rows;
    },
    async copyIn(target, payload) {
      const stream = client.query(copyFrom(`copy ${target} from stdin with (format binary)`));
      await pipeline(Readable.from([payload]), stream);
    },
  });

  /** Ends what a connection runs; a cancellation that fails leaves the statement to its own end. */
  const cancel = async (processId: number): Promise<void> => {
    const canceller = new pg.Client(settings);
    canceller.on('error', () => {});
    try {
      await canceller.connect();
      await canceller.query('select pg_cancel_backend($1)', [processId]);
    } catch {
    } finally {
      await canceller.end().catch(() => {});
    }
  };

  const runIn = async <T>(client: PoolClient, work: (session: SqlSession) => Promise<T>, signal?: AbortSignal) => {
    let cancelled: Promise<void> | undefined;
    const stop = () => {
      cancelled = cancel((client as PoolClient & { readonly processID: number }).processID);
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await client.query('begin');
      const result = await work(openSession(client, signal));
      await client.query('commit');
      return result;
    } finally {
      signal?.removeEventListener('abort', stop);
      await cancelled; // before the connection runs another statement
    }
  };

  /** The number of removed rows that the server kept for open transactions. */
  const vacuumOnce = async (table: string): Promise<number> => {
    let client: PoolClient | undefined;
    let lost: Error | undefined;
    let kept = 0;
    const noteLoss = (error: Error) => {
      lost = error;
    };
    const noteKept = ({ detail = '' }: { readonly detail?: string | undefined }) => {
      kept += Number(/^\d+(?= )/.exec(detail)?.[0] ?? 0); // "20 dead row versions cannot be removed yet."
    };
    try {
      client = await pool.connect();
      client.on('error', noteLoss).on('notice', noteKept);
      await client.query(writeVacuum(table));
      return kept;
    } catch (error) {
      throw convertDatabaseError(error, address);
    } finally {
      client?.off('error', noteLoss).off('notice', noteKept);
      client?.release(lost);
    }
  };

  return {
    address,
    async transaction(work, signal) {
      let client: PoolClient | undefined;
      let lost: Error | undefined;
      const noteLoss = (error: Error) => {
        lost = error;
      };
      try {
        client = await pool.connect();
        client.on('error', noteLoss); // without a listener a lost connection would end the process
        return await runIn(client, work, signal);
      } catch (error) {
        const failed = await client?.query('rollback').then(
          () => undefined,
          (failure: Error) => failure,
        );
        lost ??= failed;
        signal?.throwIfAborted();
        throw convertDatabaseError(error, address);
      } finally {
        client?.off('error', noteLoss);
        client?.release(lost);
      }
    },
    async vacuum(table) {
      const deadline = performance.now() + vacuumMilliseconds;
      for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause *= 2) {
        const kept = await vacuumOnce(table);
        if (kept === 0) return;
        if (performance.now() + pause > deadline)
          throw new StorageError(`vacuum table ${table}`, address, {
            cause: new Error(`${kept} removed rows are kept for a transaction that is open`),
            remedy: 'end the transaction, and remove again',
          });
        await wait(pause);
      }
    },
    dispose: () => pool.end(),
  };
}
