import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { requirePackages } from '../core/required-packages.harness.ts';
import { runRagpp } from './command.harness.ts';

/** A server for these tests: `.ci/postgres` sets it. */
const { RAGPP_TEST_POSTGRES: url } = process.env;
if (url === undefined)
  console.log('forgetting on a server was not tested: RAGPP_TEST_POSTGRES is not set; run .ci/postgres');

const pglite = requirePackages('PGlite');
const root = mkdtempSync(join(tmpdir(), 'ragpp-memory-tables-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (name: string) => join(root, name);
const ragpp = (...words: string[]) => runRagpp('memory', ...words);

const CANARY = 'canary-4711';
/** So long that Postgres compresses it. */
const LONG = `${'the printer in the hall, '.repeat(500)}${CANARY}`;

/** Makes a memory with a table, and looks for the canary before and after it is forgotten. */
async function proveTwice(name: string, database: string) {
  const rows = [1, 2, 3].map((i) => ({
    ...{ id: `r${i}`, context: `text ${i}`, createdAt: i, embedding: [1, i] },
    ...(i === 2 ? { conversationId: 'secret', author: CANARY, metadata: { topic: LONG } } : { conversationId: 'open' }),
  }));
  writeFileSync(at('rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const options = ['index=pgvector', database, `table=forgotten_${process.pid}`].flatMap((option) => [
    '--set',
    `indexes.main.${option}`,
  ]);
  expect(await ragpp('import', at(name), at('rows.jsonl'), ...options)).toMatchObject({ code: 0 });
  const before = await ragpp('prove-forgotten', at(name), CANARY);
  const removed = await ragpp('remove', at(name), '--conversation', 'secret', '--cache', at('cache'));
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining('removed: 1 records') });
  return { before, after: await ragpp('prove-forgotten', at(name), CANARY) };
}

pglite.test(
  'files and rows of a Postgres inside this process are searched, and have nothing after a removal',
  async () => {
    const { before, after } = await proveTwice('own', `folder=${at('database')}`);
    expect(before.code).toBe(1);
    for (const place of [`${at('database')}/base/`, `${at('database')}/pg_wal/`])
      expect(before.stdout).toContain(`found: ${place}`);
    expect(before.stdout).toMatch(/^found: table forgotten_\d+ at \/.*database, row r2 \(UTF-8\)$/m);
    expect(before.stdout).toMatch(/, 3 rows of tables; found: \d+, not read: 0\n$/);
    expect(after).toMatchObject({ code: 0, stderr: '' });
    expect(after.stdout).toMatch(/^scanned: \d+ files, \d+ bytes, 2 rows of tables; found: 0, not read: 0\n$/);
  },
  120_000,
);

test.skipIf(url === undefined)('rows of a server are searched; its files are not read', async () => {
  const { before, after } = await proveTwice('server', `url=${url}`);
  expect(before.stdout).toMatch(/^found: table forgotten_\d+ at 127.*, row r2 \(UTF-8\)$/m);
  expect(after.code).toBe(1);
  expect(after.stdout).toMatch(
    /^not read: table .*: files of the server; look .*\nscanned: .*, 2 rows of tables; found: 0, not read: 1\n$/,
  );
});

test('a table that cannot be opened is listed', async () => {
  writeFileSync(at('rows.jsonl'), `${JSON.stringify({ id: 'a', context: 'a', createdAt: 1, embedding: [1] })}\n`);
  await ragpp('import', at('unreachable'), at('rows.jsonl'));
  const indexes = { main: { index: 'pgvector', url: 'postgres://user:secret@127.0.0.1:9/nowhere' } };
  writeFileSync(join(at('unreachable'), 'memory.json'), JSON.stringify({ dimension: 1, indexes }));
  const { code, stdout } = await ragpp('prove-forgotten', at('unreachable'), CANARY);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^not read: table memories: Postgres at .* is not available/),
  ]);
  expect(stdout).not.toContain('secret');
});
