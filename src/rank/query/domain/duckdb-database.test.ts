import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { QueryError, UnavailableError } from '../../../core/errors/errors.ts';
import { requirePackages } from '../../../core/required-packages.harness.ts';
import type { DomainDatabase } from './domain-options.ts';
import { openDuckDb } from './duckdb-database.ts';
import { writeShopDatabase } from './shop.fixture.ts';

const { describe, test } = requirePackages('DuckDB');
const folder = mkdtempSync(join(tmpdir(), 'ragpp-duckdb-'));
const path = join(folder, 'shop.duckdb');
const outside = join(folder, 'secret.csv');
const hashFile = () => createHash('sha256').update(readFileSync(path)).digest('hex');
let database: DomainDatabase;
let before: string;
beforeAll(async () => {
  await writeShopDatabase(path);
  writeFileSync(outside, 'a,b\n1,secret\n');
  before = hashFile();
  database = await openDuckDb(path);
});
afterAll(async () => {
  await database.dispose();
  rmSync(folder, { recursive: true });
});

test('reads rows with bound values, and no more than it is asked for', async () => {
  const sql =
    'select order_id, total from orders where cast(customer_id as varchar) = $1 and total > $2 order by order_id';
  expect(await database.read(sql, ['1', 10.5], 9)).toEqual([
    { order_id: 17, total: 120.5 },
    { order_id: 18, total: 80 },
  ]);
  expect(await database.read('select * from range(1000000) t(n)', [], 3)).toHaveLength(3);
  expect(await database.read('select $1 is null as missing, $2 as yes', [null, true], 1)).toEqual([
    { missing: true, yes: true },
  ]);
});

describe('no way leads around reading', () => {
  const target = join(folder, 'written');
  const ways: readonly (readonly [string, string])[] = [
    ['INSERT', "insert into customers values (4, 'x', 'y')"],
    ['UPDATE', "update customers set name = 'x'"],
    ['DELETE', 'delete from orders'],
    ['CREATE TABLE', 'create table t as select 1'],
    ['a temporary table', 'create temp table t as select 1'],
    ['DROP', 'drop table orders'],
    ['COPY TO a file', `copy orders to '${target}'`],
    ['COPY of a query to a file', `copy (select 1) to '${target}' (format csv)`],
    ['EXPORT DATABASE', `export database '${target}'`],
    ['ATTACH', `attach '${target}' as other`],
    ['reading a CSV', `select * from read_csv('${outside}')`],
    ['reading a text', `select content from read_text('${outside}')`],
    ['a file as a table', `select * from '${outside}'`],
    ['listing files', `select * from glob('${folder}/*')`],
    ['INSTALL', 'install httpfs'],
    ['LOAD', 'load httpfs'],
    ['unlocking the configuration', 'set lock_configuration = false'],
    ['external access', 'set enable_external_access = true'],
    ['PRAGMA', "pragma memory_limit='1GB'"],
    ['a secret', "create secret s (type s3, key_id 'a', secret 'b')"],
    ['an environment variable', "select getenv('HOME')"],
    ['a second statement', 'select 1; drop table orders'],
    ['a second statement after a comment', 'select 1 /* ; */ ; delete from orders --'],
    ['a write in a WITH', "with x as (select 1) insert into customers select 9, 'x', 'y'"],
    ['a transaction', 'begin transaction'],
    ['CALL', 'call pragma_version()'],
    ['a network address', "select * from read_json('http://127.0.0.1:1/x.json')"],
    ['nothing', ' ; '],
  ];

  test.each(ways)('%s is refused', async (_, sql) => {
    await expect(database.read(sql, [], 9)).rejects.toThrow(QueryError);
    expect(existsSync(target)).toBe(false);
  });

  test('a value is never read as SQL', async () => {
    const value = "1'; drop table orders; --";
    const sql = 'select count(*) as n from orders where cast(customer_id as varchar) = $1';
    expect(await database.read(sql, [value], 1)).toEqual([{ n: '0' }]);
    expect(await database.read('select count(*) as n from orders', [], 1)).toEqual([{ n: '3' }]);
  });

  test('the file is what it was, and nothing is beside it', () => {
    expect(hashFile()).toBe(before);
    expect(readdirSync(folder).sort()).toEqual(['secret.csv', 'shop.duckdb']);
  });
});

test('SQL that is wrong is an error with the words of DuckDB, and the next question is answered', async () => {
  await expect(database.read('select nothing from orders', [], 1)).rejects.toThrow(
    /^DuckDB refused "select nothing .*; correct the SQL$/s,
  );
  expect(await database.read('select 7 as seven', [], 1)).toEqual([{ seven: 7 }]);
});

test('an aborted statement ends', async () => {
  const reason = new Error('late');
  const endless = 'select count(*) as n from range(1000000) a, range(1000000) b where a.range * b.range % 7 = 1';
  const aborted = AbortSignal.timeout(50);
  await expect(database.read(endless, [], 1, aborted)).rejects.toThrow();
  await expect(database.read('select 1 as one', [], 1, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('a missing file, and a file of another kind, are unavailable', async () => {
  await expect(openDuckDb(join(folder, 'none.duckdb'))).rejects.toThrow(UnavailableError);
  await expect(openDuckDb(outside)).rejects.toThrow(/DuckDB cannot open it/);
});
