import { expect, test } from 'vitest';
import { QueryError } from '../../../core/errors/errors.ts';
import { openDomainDatabase } from './domain-records.ts';

const url = process.env.RAGPP_TEST_POSTGRES;
if (url === undefined)
  console.warn('records of Postgres were not tested: RAGPP_TEST_POSTGRES is not set; run .ci/postgres');

const WAYS = [
  'create table ragpp_written (a integer)',
  'with x as (insert into pg_temp.t values (1) returning 1) select * from x',
  'select 1; drop table pg_class',
  "copy (select 1) to '/tmp/ragpp-written'",
  'select 1; commit; create table ragpp_written (a integer)',
  "select nextval('none')",
  'set transaction read write',
  'begin',
];

test.skipIf(url === undefined)('a server is read and not written', async () => {
  const database = await openDomainDatabase(url as string);
  try {
    expect(await database.read('select $1::text as a, n from generate_series(1, 9) n', ['x'], 2)).toEqual([
      { a: 'x', n: 1 },
      { a: 'x', n: 2 },
    ]);
    for (const sql of WAYS) await expect(database.read(sql, [], 1), sql).rejects.toThrow(QueryError);
    expect(await database.read("select to_regclass('ragpp_written') as made", [], 1)).toEqual([{ made: null }]);
  } finally {
    await database.dispose();
  }
});
