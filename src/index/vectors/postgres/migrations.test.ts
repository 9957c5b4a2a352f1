import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../../core/errors/errors.ts';
import { requirePackages } from '../../../core/required-packages.harness.ts';
import { PgvectorIndex } from '../pgvector.ts';
import { type PgvectorOptions, pgvector } from '../vector-kind.ts';
import { openPglite } from './pglite-database.ts';
import { connectPostgres } from './postgres-database.ts';
import type { SqlDatabase, SqlRow, SqlValue } from './sql-database.ts';

/** A server for these tests: `.ci/postgres` sets it. Without one Postgres runs in this process. */
const { RAGPP_TEST_POSTGRES: url } = process.env;
const pglite = requirePackages('PGlite');

const D = 3;
/** The layout of a table before there were versions, with rows in all columns. */
const listLegacy = (table: string) => [
  'create extension if not exists vector',
  `create table ${table} (id text collate "C", conversation_id text, parent_id text, created_at double precision,
    author text, channel text, attributes jsonb not null, embedding vector(${D}), primary key (id))`,
  `comment on table ${table} is 'ragpp cosine'`,
  `insert into ${table} select 'row' || i, 'c' || i % 4999, 'row' || i - 1, 1000.5 * i, 'author', 'channel' || i % 2,
    jsonb_build_object('place', i, 'entities', jsonb_build_array('e' || i % 5)),
    case when i = 7 then null else format('[%s,%s,%s]', cos(i), sin(i), 0)::vector end from generate_series(0, 19996) i`,
];

(url === undefined ? pglite.describe : describe)('the schema of a table', () => {
  let database: SqlDatabase;
  let tables = 0;
  beforeAll(async () => {
    database = url === undefined ? await openPglite(null) : await connectPostgres(url);
  });
  afterAll(() => database.dispose());

  const query = (sql: string, parameters: readonly SqlValue[] = []) =>
    database.transaction((session) => session.query(sql, parameters));
  const makeLegacy = async (table: string) => {
    for (const sql of listLegacy(table)) await query(sql);
  };
  const nameTable = () => `migrated_${process.pid}_${tables++}`;
  const open = (table: string, transaction: SqlDatabase['transaction'] = database.transaction) =>
    PgvectorIndex.open(
      pgvector.live.options.parse({ index: 'pgvector', table }) as PgvectorOptions,
      { dimension: D },
      { ...database, transaction, dispose: async () => {} },
    );
  const readVersion = async (table: string) =>
    (await query('select version from ragpp_tables where name = $1', [table]))[0]?.version;
  const listIndexes = async (table: string) =>
    (await query('select indexname from pg_indexes where tablename = $1 order by indexname', [table])).map(
      ({ indexname }) => String(indexname).slice(table.length),
    );
  const NEWEST = 2;

  test('one from before there were versions keeps its rows and gets what a new one has', async () => {
    const [old, made] = [nameTable(), nameTable()];
    await makeLegacy(old);
    const readRows = () => query(`select id, t::text as row from ${old} t order by id`);
    const before: readonly SqlRow[] = await readRows();
    const index = await open(old);
    await (await open(made)).dispose();
    expect(before).toHaveLength(19_997);
    expect(await readRows()).toEqual(before);
    expect([await readVersion(old), await readVersion(made)]).toEqual([NEWEST, NEWEST]);
    expect(await listIndexes(old)).toEqual(['_conversation', '_pkey', '_time']);
    expect(await listIndexes(made)).toEqual(['_conversation', '_pkey', '_time']);
    const [found] = await index.search(Float32Array.of(Math.cos(9), Math.sin(9), 0), 1, {
      filter: { op: '=', field: 'conversationId', value: 'c9' },
    });
    expect(found).toMatchObject([{ id: 'row9' }]);
    await index.dispose();
  });

  test.each([
    [{ op: '=', field: 'conversationId', value: 'c9' }, '_conversation'],
    [{ op: 'between', field: 'timestamp', low: 2000, high: 9000 }, '_time'],
  ] as const)('filter %j is answered by an index of its column', async (filter, name) => {
    const table = nameTable();
    await makeLegacy(table);
    const plans: string[] = [];
    const index = await open(table, (work) =>
      database.transaction((session) =>
        work({
          ...session,
          query: async (sql, parameters) => {
            if (sql.startsWith('with seen')) {
              const plan = await session.query(`explain ${sql}`, parameters);
              plans.push(plan.map((row) => row['QUERY PLAN']).join('\n'));
            }
            return session.query(sql, parameters);
          },
        }),
      ),
    );
    await query(`analyze ${table}`);
    await index.search(Float32Array.of(1, 0, 0), 3, { filter });
    expect(plans.join()).toMatch(new RegExp(`Index (Scan|Cond)[^]*${table}${name}|${table}${name}[^]*Index Cond`));
    await index.dispose();
  });

  test('a version that this program does not know is an error that says both, and changes nothing', async () => {
    const table = nameTable();
    await (await open(table)).dispose();
    await query('update ragpp_tables set version = 9 where name = $1', [table]);
    await query(`drop index ${table}_time`);
    const opening = open(table);
    await expect(opening).rejects.toThrow(ValidationError);
    await expect(opening).rejects.toThrow(
      new RegExp(
        `^table ${table} has version 9, and this program knows versions up to ${NEWEST}; update rag-plusplus$`,
      ),
    );
    expect([await readVersion(table), await listIndexes(table)]).toEqual([9, ['_conversation', '_pkey']]);
  });

  test('a migration that fails leaves the version and the table of before; the next opening repeats it', async () => {
    const table = nameTable();
    await makeLegacy(table);
    const failing: SqlDatabase['transaction'] = (work) =>
      database.transaction((session) =>
        work({
          ...session,
          query: (sql, parameters) =>
            sql.includes(`"${table}_time"`) ? Promise.reject(new Error('no more')) : session.query(sql, parameters),
        }),
      );
    await expect(open(table, failing)).rejects.toThrow('no more');
    expect(await listIndexes(table)).toEqual(['_pkey']);
    await (await open(table)).dispose();
    expect([await readVersion(table), await listIndexes(table)]).toEqual([NEWEST, ['_conversation', '_pkey', '_time']]);
  });

  test('clients that open a table at once migrate it once; one that was dropped is made again', async () => {
    const table = nameTable();
    await makeLegacy(table);
    const indexes = await Promise.all([1, 2, 3].map(() => open(table)));
    expect(await Promise.all(indexes.map((index) => index.count()))).toEqual([19_997, 19_997, 19_997]);
    for (const index of indexes) await index.dispose();
    await query(`drop table ${table}`);
    const again = await open(table);
    expect([await again.count(), await listIndexes(table)]).toEqual([0, ['_conversation', '_pkey', '_time']]);
    await again.dispose();
  });

  test('an older table is an error where nothing may be written', async () => {
    const table = nameTable();
    await makeLegacy(table);
    const reading: SqlDatabase['transaction'] = (work) =>
      database.transaction(async (session) => {
        await session.query('set transaction read only');
        return work(session);
      });
    await expect(open(table, reading)).rejects.toThrow(
      `table ${table} has version 0, and this program needs ${NEWEST}; open it once where it can be written`,
    );
    await (await open(table)).dispose();
    await (await open(table, reading)).dispose();
  });
});
