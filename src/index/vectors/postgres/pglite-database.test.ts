import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { UnavailableError } from '../../../core/errors/errors.ts';
import { requirePackages } from '../../../core/required-packages.harness.ts';
import { openPglite } from './pglite-database.ts';
import type { SqlDatabase } from './sql-database.ts';

const pglite = requirePackages('PGlite');
const root = mkdtempSync(join(tmpdir(), 'ragpp-pglite-'));
afterAll(() => rmSync(root, { recursive: true }));

const ask = async (database: SqlDatabase) =>
  database.transaction(async (session) => (await session.query('select 7 as seven'))[0]?.seven);

test('a folder that another process uses is refused with its number, and its lock stays', async () => {
  const folder = join(root, 'held');
  mkdirSync(folder);
  writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: 4711, host: 'elsewhere', born: null }));
  await expect(openPglite(folder)).rejects.toThrow(UnavailableError);
  await expect(openPglite(folder)).rejects.toThrow(
    `database folder ${folder} is not available: process 4711 on elsewhere works on it; `,
  );
  expect(readdirSync(folder)).toEqual(['lock']);
});

pglite.test(
  'users of one folder share it, by any of its names and while it closes; a user who leaves twice counts once',
  async () => {
    const folder = join(root, 'shared');
    const first = await openPglite(folder);
    symlinkSync(folder, join(root, 'alias'));
    const second = await openPglite(join(root, 'alias'));
    await first.dispose();
    await first.dispose();
    expect(await ask(second)).toBe(7);
    const closing = second.dispose();
    const third = await openPglite(folder);
    await closing;
    expect(await ask(third)).toBe(7);
    await third.dispose();
    expect(readdirSync(folder)).not.toContain('lock');
  },
);
