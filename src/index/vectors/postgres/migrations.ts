import { ValidationError } from '../../../core/errors/errors.ts';
import type { PgvectorOptions } from '../vector-kind.ts';
import type { SqlSession } from './sql-database.ts';

/** Locks out another process that changes the schema of a table at the same time. */
const MIGRATION_LOCK = 7_221_981;

/** The table that has the version of each table of vectors. */
const VERSIONS = 'ragpp_tables';

/** The life of a table: until it is dropped, or for its connection alone. */
export type TableLifetime = 'kept' | 'session';

/** The options that decide the schema of a table. */
export type TableOptions = Pick<PgvectorOptions, 'table' | 'distance' | 'storage'> & { readonly dimension: number };

export const nameVectorType = ({ storage, dimension }: TableOptions): string => `${storage}(${dimension})`;

/** The types of the columns. */
export const listColumnTypes = (options: TableOptions): Readonly<Record<string, string>> => ({
  id: 'text collate "C"',
  conversation_id: 'text',
  parent_id: 'text',
  created_at: 'double precision',
  author: 'text',
  channel: 'text',
  attributes: 'jsonb not null',
  embedding: nameVectorType(options),
});

type Migration = (options: TableOptions, lifetime: TableLifetime) => readonly string[];

/** A table that is there is taken as it is: one in partitions, or one from before there were versions. */
const createTable: Migration = (options, lifetime) => {
  const kind = lifetime === 'session' ? 'temporary table' : 'table';
  const columns = Object.entries(listColumnTypes(options)).map(([name, type]) => `${name} ${type}`);
  return [
    'create extension if not exists vector',
    `create ${kind} if not exists "${options.table}" (${columns.join(', ')}, primary key (id))`,
  ];
};

/** B-trees, by which a filter on a conversation or a time finds its rows. */
const indexSubjects: Migration = ({ table }) => [
  `create index if not exists "${table}_conversation" on "${table}" (conversation_id)`,
  `create index if not exists "${table}_time" on "${table}" (created_at)`,
];

/** The n-th makes version n of a table from the version before. A released one never changes: add another. */
const MIGRATIONS: readonly Migration[] = [createTable, indexSubjects];

/** The version of a table; 0: there is none, or one from before there were versions. */
async function readVersion(session: SqlSession, table: string): Promise<number> {
  const [found] = await session.query(
    'select to_regclass($1) is not null as versions, to_regclass($2) is not null as "table"',
    [VERSIONS, `"${table}"`],
  );
  if (found?.versions !== true || found.table !== true) return 0;
  const [row] = await session.query(`select version from ${VERSIONS} where name = $1`, [table]);
  return row === undefined ? 0 : (row.version as number);
}

/** Everyone may read the versions, as a user does who may write to a table of another. */
async function writeVersion(session: SqlSession, table: string, version: number): Promise<void> {
  const [found] = await session.query('select to_regclass($1) is null as missing', [VERSIONS]);
  if (found?.missing === true) {
    await session.query(`create table ${VERSIONS} (name text primary key, version integer not null)`);
    await session.query(`grant select on ${VERSIONS} to public`);
  }
  await session.query(
    `insert into ${VERSIONS} values ($1, $2) on conflict (name) do update set version = excluded.version`,
    [table, version],
  );
}

/**
 * Brings a table to the newest version in the transaction of the session: all steps are stored or none. Temporary
 * tables have no version: each connection creates its own.
 *
 * @throws ValidationError for a table of a newer version, and for an older one where nothing may be written.
 */
export async function migrateTable(
  session: SqlSession,
  options: TableOptions,
  lifetime: TableLifetime,
  mayWrite: boolean,
): Promise<void> {
  const { table } = options;
  if (mayWrite) await session.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const { length: newest } = MIGRATIONS;
  const version = lifetime === 'session' ? 0 : await readVersion(session, table);
  if (version === newest) return;
  if (version > newest)
    throw new ValidationError(
      `table ${table} has version ${version}, and this program knows versions up to ${newest}; update rag-plusplus`,
    );
  if (!mayWrite)
    throw new ValidationError(
      `table ${table} has version ${version}, and this program needs ${newest}; open it once where it can be written`,
    );
  for (const migration of MIGRATIONS.slice(version))
    for (const sql of migration(options, lifetime)) await session.query(sql);
  if (lifetime === 'kept') await writeVersion(session, table, newest);
}
