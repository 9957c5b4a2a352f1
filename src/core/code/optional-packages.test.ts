import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UnavailableError } from '../errors/errors.ts';
import { importOptional } from './optional-packages.ts';
import { PROJECT_ROOT } from './package-root.ts';

const load = () => import('rag-plusplus-no-such-package' as string);

test.each([
  [['@duckdb/node-api'], 'domain-data.md'],
  [['@electric-sql/pglite', '@electric-sql/pglite-pgvector'], 'live-indexes.md'],
])(
  'without %j the error has the command of the docs that installs the version of package.json',
  async (packages, page) => {
    const error = await importOptional(load, 'a database', packages).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(UnavailableError);
    const { message } = error as UnavailableError;
    expect(message).toMatch(/^a database is not available: a package is missing; npm install @\S+@\d/);
    expect(readFileSync(join(PROJECT_ROOT, 'docs', page), 'utf8')).toContain(/npm install .*/.exec(message)?.[0]);
  },
);

test('a range of versions is written by its major version, which no shell changes', async () => {
  await expect(importOptional(load, 'Postgres', ['pg', 'pg-copy-streams'])).rejects.toThrow(
    'Postgres is not available: a package is missing; npm install pg@8 pg-copy-streams@7',
  );
});

test('an error of a package that is there stays what it is', async () => {
  const fault = new Error('no library');
  await expect(importOptional(() => Promise.reject(fault), 'Postgres', ['pg'])).rejects.toBe(fault);
});
