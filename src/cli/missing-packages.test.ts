import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { PROJECT_ROOT } from '../core/code/package-root.ts';
import { requirePackages } from '../core/required-packages.harness.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { SHOP_DOMAIN } from '../rank/query/domain/shop.fixture.ts';
import { startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-missing-packages-'));
afterAll(() => rmSync(root, { recursive: true }));
const { peerDependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};
const writeVersion = (name: string) => `${name}@${peerDependencies[name]}`;
const at = (name: string) => join(root, name);

requirePackages('DuckDB').testWithout('a question to a file of DuckDB says how to install the package', async () => {
  writeSampleJsonl(root);
  writeFileSync(at('sample.yaml'), JSON.stringify(buildSampleConfig(root)));
  writeFileSync(at('domain.yaml'), JSON.stringify(SHOP_DOMAIN));
  writeFileSync(at('shop.duckdb'), '');
  const domain = ['--domain', at('domain.yaml'), '--database', at('shop.duckdb')];
  const ask = ['ask', at('sample.yaml'), 'What did Kai order?', '--arm', 'hybrid', '--cache', at('cache')];
  const { code, stdout, stderr } = await startRagpp([...ask, ...domain]).ended;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(
    `DuckDB is not available: a package is missing; npm install ${writeVersion('@duckdb/node-api')}\n`,
  );
});

for (const { what, packages, needs, index } of [
  {
    what: 'PGlite',
    packages: ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'],
    needs: 'PGlite',
    index: 'pgvector',
  },
  { what: 'usearch', packages: ['usearch'], needs: 'index usearch', index: 'usearch' },
] as const)
  requirePackages(what).testWithout(`a memory with an index ${index} says how to install its packages`, async () => {
    const row = { id: 'a', context: 'a', createdAt: 1, embedding: [1] };
    writeFileSync(at('rows.jsonl'), `${JSON.stringify(row)}\n`);
    const words = ['memory', 'import', at(index), at('rows.jsonl'), '--set', `indexes.main.index=${index}`];
    const { code, stdout, stderr } = await startRagpp(words).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      `${needs} is not available: a package is missing; npm install ${packages.map(writeVersion).join(' ')}\n`,
    );
  });
