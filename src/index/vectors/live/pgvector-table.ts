import { DimensionMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import type { Distance } from '../../../model/vector-index.ts';
import type { SqlSession } from './sql-database.ts';

/** Locks out another process that creates the extension or the table at the same time. */
const CREATION_LOCK = 7_221_981;

/** How long a table is there: until it is dropped, or for its connection alone. */
export type TableLifetime = 'kept' | 'session';

async function createTable(
  session: SqlSession,
  table: string,
  dimension: number,
  lifetime: TableLifetime,
): Promise<void> {
  await session.query('select pg_advisory_xact_lock($1)', [CREATION_LOCK]);
  await session.query('create extension if not exists vector');
  const kind = lifetime === 'session' ? 'temporary table' : 'table';
  await session.query(`create ${kind} if not exists "${table}" (id text collate "C" primary key,
    conversation_id text, parent_id text, created_at double precision, author text, channel text,
    attributes jsonb not null, embedding vector(${dimension}))`);
}

/**
 * Makes a table of vectors if it is missing, or checks that it is one of an index. A standby has the table of its primary.
 *
 * @param table its name, which needs no escape.
 * @throws DimensionMismatchError, ValidationError for one that is there with another dimension or distance.
 */
export async function takeTable(
  session: SqlSession,
  table: string,
  dimension: number,
  distance: Distance,
  lifetime: TableLifetime,
): Promise<void> {
  const [mode] = await session.query(`select current_setting('transaction_read_only') as read_only`);
  const mayWrite = mode?.read_only === 'off';
  if (mayWrite) await createTable(session, table, dimension, lifetime);
  const [found] = await session.query(
    `select format_type(atttypid, atttypmod) as type, obj_description(attrelid) as remark
      from pg_attribute where attrelid = $1::regclass and attname = 'embedding'`,
    [`"${table}"`],
  );
  const type = String(found?.type);
  if (type !== `vector(${dimension})`)
    throw new DimensionMismatchError(`vectors of table ${table}`, `vector(${dimension})`, type, 'name another table');
  const remark = `ragpp ${distance}`;
  if (found?.remark === null && mayWrite) await session.query(`comment on table "${table}" is '${remark}'`);
  else if (found?.remark !== remark)
    throw new ValidationError(
      `table ${table} was made for another distance than ${distance}: ${found?.remark}; name another table`,
    );
}
