import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { QueryError } from '../../core/errors/errors.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { type DomainDatabase, type DomainInput, readDomain } from '../../rank/query/domain/domain-options.ts';
import { openDomainDatabase, readDomainEntities } from '../../rank/query/domain/domain-records.ts';
import { SHOP_DOMAIN, writeShopDatabase } from '../../rank/query/domain/shop.fixture.ts';
import { assemble } from './assemble.ts';
import { createDomainSource } from './domain-source.ts';
import type { ContextItem, ContextSource } from './source.ts';

const { describe, test } = requirePackages('DuckDB');
const folder = mkdtempSync(join(tmpdir(), 'ragpp-domain-'));
const NOW = Date.UTC(2024, 4, 15, 12);
let database: DomainDatabase;
beforeAll(async () => {
  await writeShopDatabase(join(folder, 'shop.duckdb'));
  database = await openDomainDatabase(join(folder, 'shop.duckdb'));
});
afterAll(async () => {
  await database.dispose();
  rmSync(folder, { recursive: true });
});

const open = (change: Partial<DomainInput> = {}) =>
  createDomainSource({ database, domain: readDomain({ ...SHOP_DOMAIN, ...change }), timeZone: 'UTC' });
const ask = (query: string, source: ContextSource = open(), k = 100) =>
  source({ query, k, session: null, now: NOW, signal: new AbortController().signal }) as Promise<
    readonly ContextItem[]
  >;
const readTexts = async (query: string, source?: ContextSource) => (await ask(query, source)).map(({ text }) => text);

test('entities of the database are names of questions', async () => {
  expect(await readDomainEntities(database, readDomain(SHOP_DOMAIN).ontology)).toEqual([
    { id: 'customer:1', name: 'Kai Media', aliases: ['Kai'] },
    { id: 'customer:2', name: 'Nordwind Books', aliases: [] },
    { id: 'customer:3', name: `O'Hara "&" Sons`, aliases: ['OHS'] },
  ]);
});

describe('a question', () => {
  test('is answered by records of whom it names, in the time that it names', async () => {
    const [all, april] = ['order 18 of 2024-05-02: 80', 'order 17 of 2024-04-03: 120.5'];
    expect(await readTexts('What did Kai Media order?')).toEqual([all, april]);
    expect(await readTexts('What did Kai order last month?')).toEqual([april]);
    expect(await readTexts('What did Kai and Nordwind Books order in April?')).toEqual([
      april,
      'order 19 of 2024-04-20: 15',
    ]);
  });

  test('without a name, about nobody that is known, or that needs no record has none', async () => {
    for (const question of ['What was ordered?', 'What did Zork order?', 'How do I handle a rush order of Kai?'])
      expect(await readTexts(question), question).toEqual([]);
  });

  test('may ask about what the ontology joins to a name', async () => {
    const sql = 'select total from orders where cast(order_id as varchar) = $entity';
    const queries = [{ name: 'total', entity: 'order', sql, text: 'total {total}' }];
    expect(await readTexts('What did Kai Media order?', open({ queries }))).toEqual(['total 120.5', 'total 80']);
    expect(await readTexts('What did Kai Media order?', open({ queries, expansion: { depth: 0 } }))).toEqual([]);
    expect(await readTexts('What did Kai Media order?', open({ queries, expansion: { fanOut: 1 } }))).toHaveLength(1);
  });

  test('has no more records than it is asked for, by query and in all', async () => {
    expect(await ask('What did Kai Media order?', open({ rows: 1 }))).toHaveLength(1);
    expect(await ask('What did Kai and Nordwind Books order?', open(), 2)).toHaveLength(2);
  });
});

test('SQL that is broken is an error of the source or of the question', async () => {
  const query = SHOP_DOMAIN.queries[0]!;
  expect(() => open({ queries: [{ ...query, sql: 'select $user' }] })).toThrow(
    'SQL has an unknown parameter: $user; use $entity, $start, $end, $now',
  );
  const broken = open({ queries: [{ ...query, sql: 'selct $entity' }] });
  await expect(ask('What did Kai order?', broken)).rejects.toThrow(QueryError);
  const worded = open({ queries: [{ ...query, text: '{price}' }] });
  await expect(ask('What did Kai order?', worded)).rejects.toThrow(
    'query orders has no column for its text: "price"; use order_id, day, total',
  );
});

test('records are in the prompt before memories, and a database that fails is left out by name', async () => {
  const remembered = { id: 'm1', text: 'Kai pays late.', score: 1, timestamp: NOW, source: 'memory:1' };
  const memories: ContextSource = async () => [{ ...remembered, memoryType: 'episodic', session: '1' }];
  const { prompt, tokens, items } = await assemble(
    'What did Kai order last month?',
    { budget: 40 },
    { memories, domain: open() },
    { now: NOW },
  );
  expect(prompt).toContain('# Domain Database Query Results\n\n- order 17 of 2024-04-03: 120.5 (database:orders)\n');
  expect(items.map(({ memoryType }) => memoryType)).toEqual(['record', 'episodic']);
  expect(tokens).toBe(items.reduce((sum, item) => sum + item.tokens, 0));
  const failing = open({
    queries: [{ ...SHOP_DOMAIN.queries[0]!, sql: 'select * from nothing where $entity is null' }],
  });
  const left = await assemble('What did Kai order?', {}, { memories, domain: failing }, { now: NOW });
  expect(left.sources.find(({ name }) => name === 'domain')?.fault).toMatch(/^QUERY: DuckDB refused/);
  expect(left.items.map(({ id }) => id)).toEqual(['m1']);
});
