import { existsSync } from 'node:fs';
import { importOptional } from '../../../core/code/optional-packages.ts';
import { QueryError, UnavailableError } from '../../../core/errors/errors.ts';
import { once } from '../../../core/values/once.ts';
import type { DomainDatabase, DomainRow, DomainValue } from './domain-options.ts';

/**
 * READ_ONLY alone is not enough: COPY would still write files, and functions would read them. No statement can reach a file or a network, and none can change these
 * settings.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  access_mode: 'READ_ONLY',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_unsigned_extensions: 'false',
  lock_configuration: 'true',
};

interface Statement {
  readonly statementType: number;
  bindNull(place: number): void;
  bindDouble(place: number, value: number): void;
  bindBoolean(place: number, value: boolean): void;
  bindVarchar(place: number, value: string): void;
  streamAndReadUntil(rows: number): Promise<{ getRowObjectsJson(): DomainRow[] }>;
  destroySync(): void;
}

interface Connection {
  extractStatements(sql: string): Promise<{ readonly count: number; prepare(index: number): Promise<Statement> }>;
  run(sql: string): Promise<unknown>;
  interrupt(): void;
  closeSync(): void;
}

/** The part of @duckdb/node-api that reads a file, and that tests and studies write one with. */
interface DuckDbPackage {
  readonly StatementType: { readonly SELECT: number };
  readonly DuckDBInstance: {
    create(
      path: string,
      settings?: Record<string, string>,
    ): Promise<{ connect(): Promise<Connection>; closeSync(): void }>;
  };
}

/** @throws UnavailableError for a missing package. */
export const loadDuckDb = once(
  (): Promise<DuckDbPackage> =>
    importOptional(() => import('@duckdb/node-api' as string) as Promise<DuckDbPackage>, 'DuckDB', [
      '@duckdb/node-api',
    ]),
);

/** @throws QueryError for several statements, or one that is no SELECT. */
async function prepareRead(connection: Connection, sql: string): Promise<Statement> {
  const { StatementType } = await loadDuckDb();
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1)
    throw new QueryError(`SQL has ${statements.count} statements: ${JSON.stringify(sql)}; write one SELECT`, { sql });
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== StatementType.SELECT) {
    prepared.destroySync();
    throw new QueryError(`SQL does not read: ${JSON.stringify(sql)}; write one SELECT`, { sql });
  }
  return prepared;
}

async function readRows(
  connection: Connection,
  sql: string,
  values: readonly DomainValue[],
  limit: number,
): Promise<readonly DomainRow[]> {
  const prepared = await prepareRead(connection, sql);
  try {
    for (const [i, value] of values.entries())
      if (value === null) prepared.bindNull(i + 1);
      else if (typeof value === 'number') prepared.bindDouble(i + 1, value);
      else if (typeof value === 'boolean') prepared.bindBoolean(i + 1, value);
      else prepared.bindVarchar(i + 1, value);
    const reader = await prepared.streamAndReadUntil(limit);
    return reader.getRowObjectsJson().slice(0, limit);
  } finally {
    prepared.destroySync();
  }
}

/**
 * Opens a file of DuckDB for reading: no statement can write to it, reach another file or a network, or change that. Other processes may read the same file.
 *
 * @throws UnavailableError for a missing package or file, and for a file that DuckDB cannot open.
 */
export async function openDuckDb(path: string): Promise<DomainDatabase> {
  if (!existsSync(path))
    throw new UnavailableError(`database ${path}`, 'the file does not exist; name a file of DuckDB');
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(path, { ...SETTINGS }).catch((error: Error) => {
    throw new UnavailableError(`database ${path}`, `DuckDB cannot open it: ${error.message}`, { cause: error });
  });
  return {
    address: path,
    async read(sql, values, limit, signal) {
      signal?.throwIfAborted();
      const connection = await instance.connect();
      const stop = () => connection.interrupt();
      signal?.addEventListener('abort', stop, { once: true });
      try {
        return await readRows(connection, sql, values, limit);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof QueryError) throw error;
        const { message } = error as Error;
        throw new QueryError(
          `DuckDB refused ${JSON.stringify(sql)}: ${message}; correct the SQL`,
          { sql },
          { cause: error },
        );
      } finally {
        signal?.removeEventListener('abort', stop);
        connection.closeSync();
      }
    },
    async dispose() {
      instance.closeSync();
    },
  };
}
