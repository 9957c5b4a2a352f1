import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UnavailableError } from '../errors/errors.ts';
import { importOptional } from './optional-packages.ts';
import { PROJECT_ROOT } from './package-root.ts';

const load = () => import('rag-plusplus-no-such-package' as string);

const read = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8');
const { peerDependencies } = JSON.parse(read('package.json')) as { peerDependencies: Readonly<Record<string, string>> };

test('without a package the error has the command that installs the version of package.json', async () => {
  const error = await importOptional(load, 'a database', ['@duckdb/node-api']).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(UnavailableError);
  const version = peerDependencies['@duckdb/node-api'];
  expect(version).toMatch(/^\d/);
  expect((error as UnavailableError).message).toBe(
    `a database is not available: a package is missing; npm install --no-save --save-dev @duckdb/node-api@${version}`,
  );
});

test('commands of pages install the versions of package.json', () => {
  const pages = ['docs', 'experiments'].flatMap((folder) =>
    readdirSync(join(PROJECT_ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => join(folder, file)),
  );
  const found = pages.flatMap((page) => [...read(page).matchAll(/(@(?:duckdb|electric-sql)\/[\w-]+)@([\w.-]+)/g)]);
  expect(found.length).toBeGreaterThan(4);
  expect(found.filter(([, name, version]) => peerDependencies[name as string] !== version)).toEqual([]);
});

test('a range of versions is written by its major version, which no shell changes', async () => {
  await expect(importOptional(load, 'Postgres', ['pg', 'pg-copy-streams'])).rejects.toThrow(
    'Postgres is not available: a package is missing; npm install --no-save --save-dev pg@8 pg-copy-streams@7',
  );
});

test('an error of a package that is there stays what it is', async () => {
  const fault = new Error('no library');
  await expect(importOptional(() => Promise.reject(fault), 'Postgres', ['pg'])).rejects.toBe(fault);
});
