import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { StorageError, UnavailableError, ValidationError } from '../../../core/errors/errors.ts';
import { describePgvector } from '../pgvector.harness.ts';
import { PgvectorIndex } from '../pgvector.ts';
import { openVectorIndex } from '../registry.ts';
import { pgvector } from '../vector-kind.ts';
import { connectPostgres } from './postgres-database.ts';

/** A server for these tests, and a command that kills it and starts it again: `.ci/postgres` sets both. */
const { RAGPP_TEST_POSTGRES: url, RAGPP_TEST_POSTGRES_RESTART: restart } = process.env;
if (url === undefined)
  console.log('pgvector on a server was not tested: RAGPP_TEST_POSTGRES is not set; run .ci/postgres');

test('a server that does not answer is one typed error without the password', async () => {
  const database = await connectPostgres('postgres://user:secret@127.0.0.1:9/nowhere');
  const failure = database.transaction((session) => session.query('select 1'));
  await expect(failure).rejects.toThrow(UnavailableError);
  await expect(failure).rejects.toThrow(/^Postgres at 127\.0\.0\.1:9\/nowhere is not available: /);
  await database.dispose();
});

test.each(['postgres://user:sec/ret@host:1/db', 'mysql://user:secret@host/db', 'secret'])(
  'a connection string that cannot be read is refused without its text: %s',
  async (url) => {
    const opening = openVectorIndex({ index: 'pgvector', url }, 2);
    await expect(opening).rejects.toThrow(ValidationError);
    await expect(opening).rejects.toThrow(/^the connection string of Postgres cannot be read; write (?!.*sec)/);
  },
);

if (url !== undefined) describePgvector('a server', () => connectPostgres(url));

describe.skipIf(url === undefined)('a server that is busy', () => {
  test('an aborted search is cancelled in the middle of its statement, and its connection goes on', async () => {
    const options = pgvector.live.options.parse({ index: 'pgvector', table: `aborted_${process.pid}`, url });
    const index = await PgvectorIndex.open(options, { dimension: 2 }, await connectPostgres(url!, { connections: 1 }));
    await index.upsert([{ id: 'a', vector: Float32Array.of(1, 0) }]);
    const other = await connectPostgres(url!);
    const stop = new AbortController();
    let search: Promise<unknown> | undefined;
    await other.transaction(async (session) => {
      await session.query(`lock table ${options.table} in access exclusive mode`);
      search = index.search(Float32Array.of(1, 0), 1, { signal: stop.signal });
      const countWaiting = async () =>
        (await session.query('select 1 from pg_locks where not granted and relation = $1::regclass', [options.table]))
          .length;
      await expect.poll(countWaiting).toBe(1);
      stop.abort(new Error('too late'));
      await expect(search).rejects.toThrow('too late');
      expect(await countWaiting()).toBe(0);
    });
    expect((await index.search(Float32Array.of(1, 0), 1))[0]).toMatchObject([{ id: 'a' }]);
    await index.dispose();
    await other.dispose();
  });

  test('removed rows that an open transaction may see are an error, until it ends', async () => {
    const options = pgvector.live.options.parse({ index: 'pgvector', table: `kept_${process.pid}`, url });
    const database = await connectPostgres(url!, { vacuumMilliseconds: 150 });
    const index = await PgvectorIndex.open(options, { dimension: 2 }, database);
    await index.upsert([
      { id: 'a', vector: Float32Array.of(1, 0) },
      { id: 'b', vector: Float32Array.of(0, 1) },
    ]);
    const other = await connectPostgres(url!);
    await other.transaction(async (session) => {
      await session.query('set transaction isolation level repeatable read');
      await session.query('select count(*) from pg_class');
      await index.remove(['a']);
      const compacted = index.compact();
      await expect(compacted).rejects.toThrow(StorageError);
      await expect(compacted).rejects.toThrow(
        /\(1 removed rows are kept for a transaction that is open\): .*end the trans/,
      );
    });
    await index.compact();
    expect((await index.search(Float32Array.of(1, 0), 2))[0]).toMatchObject([{ id: 'b' }]);
    await index.dispose();
    await other.dispose();
  });

  test('a removal waits for a transaction that ends within seconds', async () => {
    const options = pgvector.live.options.parse({ index: 'pgvector', table: `waited_${process.pid}`, url });
    const index = await PgvectorIndex.open(options, { dimension: 2 }, await connectPostgres(url!));
    await index.upsert([
      { id: 'a', vector: Float32Array.of(1, 0) },
      { id: 'b', vector: Float32Array.of(0, 1) },
    ]);
    const [reader, watcher] = [await connectPostgres(url!), await connectPostgres(url!)];
    const readFile = async () => {
      const sql = 'select pg_relation_filenode($1::regclass) as file';
      const [row] = await watcher.transaction((session) => session.query(sql, [options.table]));
      return row?.file;
    };
    const before = await readFile();
    let compacted: Promise<void> | undefined;
    await reader.transaction(async (session) => {
      await session.query('set transaction isolation level repeatable read');
      await session.query('select count(*) from pg_class');
      await index.remove(['a']);
      compacted = index.compact();
      await expect.poll(readFile, { timeout: 5000 }).not.toBe(before); // the first vacuum has ended
    });
    await compacted;
    for (const each of [index, reader, watcher]) await each.dispose();
  });

  test('a table of another user is not vacuumed, which is an error', async () => {
    const role = `guest_${process.pid}`;
    const owner = await connectPostgres(url!);
    const options = pgvector.live.options.parse({ index: 'pgvector', table: `owned_${process.pid}`, url });
    const index = await PgvectorIndex.open(options, { dimension: 2 }, await connectPostgres(url!));
    await owner.transaction(async (session) => {
      await session.query(
        `create role ${role} login; grant all on ${options.table} to ${role}; grant create on schema public to ${role}`,
      );
    });
    const asGuest = new URL(url!);
    asGuest.username = role;
    const guest = await PgvectorIndex.open(options, { dimension: 2 }, await connectPostgres(asGuest.href));
    await guest.upsert([{ id: 'a', vector: Float32Array.of(1, 0) }]);
    await expect(guest.compact()).rejects.toThrow(
      /^cannot use Postgres \(must be owner of .*correct what Postgres reports/,
    );
    await guest.dispose();
    await index.dispose();
    await owner.transaction((session) => session.query(`drop owned by ${role}; drop role ${role}`));
    await owner.dispose();
  });

  test('a call waits for another that has the last connection longer than a connection may take', async () => {
    const database = await connectPostgres(url!, { connections: 1 });
    const ask = (sql: string) => database.transaction((session) => session.query(sql));
    const [, rows] = await Promise.all([ask('select pg_sleep(5.5)'), ask('select 7 as seven')]);
    expect(rows).toEqual([{ seven: 7 }]);
    await database.dispose();
  });
});

describe.skipIf(url === undefined || restart === undefined)('a server that is killed in the middle of writes', () => {
  test('keeps every acknowledged row, fails with one typed error, and works again', async () => {
    const options = pgvector.live.options.parse({ index: 'pgvector', table: `killed_${process.pid}`, url });
    const index = await PgvectorIndex.open(options, { dimension: 3 }, await connectPostgres(url!));
    const acknowledged: string[] = [];
    const errors: Error[] = [];
    let restarted = false;
    const write = async (writer: number) => {
      for (let i = 0; !restarted; i++) {
        const id = `${writer}-${i}`;
        await index
          .upsert([{ id, vector: Float32Array.of(1, writer, i) }])
          .then(() => acknowledged.push(id))
          .catch((error: Error) => {
            errors.push(error);
            return new Promise((resolve) => setTimeout(resolve, 20));
          });
      }
    };
    const writers = Promise.all([0, 1, 2, 3, 4, 5].map(write));
    for (let kill = 0; kill < 3; kill++) {
      const before = acknowledged.length;
      await expect.poll(() => acknowledged.length, { timeout: 10_000 }).toBeGreaterThan(before + 20);
      await promisify(execFile)('sh', ['-c', restart!]);
    }
    restarted = true;
    await writers;
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.filter((error) => !(error instanceof UnavailableError))).toEqual([]);
    const found = await index.search(Float32Array.of(1, 1, 1), 1_000_000);
    const stored = new Set(found[0]!.map(({ id }) => id));
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    expect(stored.size).toBeGreaterThan(60);
    await index.dispose();
  }, 60_000);
});
