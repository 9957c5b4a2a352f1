import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../core/errors.ts';
import { describePgvector } from './pgvector.harness.ts';
import { PgvectorIndex } from './pgvector.ts';
import { pgvector } from './pgvector-options.ts';
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

if (url !== undefined) describePgvector('a server', () => connectPostgres(url));

describe.skipIf(url === undefined || restart === undefined)('a server that is killed in the middle of writes', () => {
  test('keeps every acknowledged row, fails with one typed error, and works again', async () => {
    const options = pgvector.options.parse({ index: 'pgvector', table: `killed_${process.pid}`, url });
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
