import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadDuckDb } from '../../rank/query/domain/duckdb-database.ts';
import { SHOP_DOMAIN, writeShopDatabase } from '../../rank/query/domain/shop.fixture.ts';
import type { Plain } from '../composition/config-file.ts';
import { loadConfig } from '../config/config.ts';
import { replayArm } from './arm-replay.ts';
import { runExperiment } from './run.ts';

const { test } = requirePackages('DuckDB');
const root = mkdtempSync(join(tmpdir(), 'ragpp-domain-arm-'));
afterAll(() => rmSync(root, { recursive: true }));

const TEXTS = [
  'Kai Media wants crates.',
  'The lamps are sold out.',
  'Order #18 was broken in its box.',
  'OHS called about a catalogue.',
  'An invoice of Nordwind Books is late.',
  'Kai likes the lamp of order 17.',
];
/** A day of May 2024. */
const dayOf = (day: number) => Date.UTC(2024, 4, day);
const QUESTIONS = [
  ['What did Kai Media order?', 20],
  ['What did Kai Media order?', 13],
  ['What did Nordwind Books order last month?', 20],
  ['What did Nordwind Books order in January?', 20],
  ['What did Zork order?', 20],
  ['What did OHS order?', 20],
] as const;

const writeLines = (file: string, rows: readonly object[]) =>
  writeFileSync(join(root, file), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

beforeAll(async () => {
  await useBackend('wasm');
  writeLines(
    'turns.jsonl',
    TEXTS.map((text, i) => ({ id: `t${i}`, conversationId: `c${i}`, parentId: null, timestamp: dayOf(10 + i), text })),
  );
  writeLines(
    'queries.jsonl',
    QUESTIONS.map(([text, day], i) => ({ id: `q${i}`, text, timestamp: dayOf(day) })),
  );
  writeFileSync(join(root, 'qrels.txt'), QUESTIONS.map((_, i) => `q${i} 0 t0 1\n`).join(''));
  await writeShopDatabase(join(root, 'shop.duckdb'));
  writeFileSync(join(root, 'shop.yaml'), JSON.stringify(SHOP_DOMAIN));
});

const load = (domain: Plain) => {
  const config = {
    name: 'records',
    dataset: { name: 'jsonl', path: root },
    embedding: { encoder: 'lsa', dimension: 2, minDocumentFrequency: 1 },
    evaluation: { baseline: 'records', samples: 199, metrics: ['mrr@10'], split: 'all' },
    arms: {
      records: [{ search: { newest: { k: 1 }, domain } }],
      words: [{ search: { bm25: { k: 1 }, domain } }],
    },
  };
  const path = join(root, 'records.yaml');
  writeFileSync(path, JSON.stringify(config));
  return loadConfig(path, []);
};
/** Relative to the folder of the config. */
const NAMED = { domain: 'shop.yaml', database: 'shop.duckdb' };
const context = { backend: 'wasm' as const, command: '' };

test('an arm finds the turns that name the records of a question, as of its moment, and again where the database has other content', async () => {
  const run = (database = NAMED.database, domain: unknown = NAMED.domain) =>
    runExperiment(load({ domain, database }), { ...context, cacheFolder: join(root, 'cache') });
  const { runs, result } = await run();
  expect(result.failures).toEqual([]);
  const found = QUESTIONS.map((_, i) =>
    runs
      .get('records')
      ?.get(`q${i}`)
      ?.map(({ id }) => id),
  );
  expect(found).toEqual([['t5', 't2', 't0'], ['t2', 't0'], ['t5', 't4'], ['t5'], ['t5'], ['t5']]);
  expect(result.arms[0]?.steps).toEqual([
    { step: 'search.newest', queries: 6, of: 6 },
    { step: 'search.domain', queries: 3, of: 6 },
  ]);
  expect(result.stages['found-records']).toMatchObject({ executed: 1 });

  const copy = join(root, 'copy.duckdb');
  copyFileSync(join(root, NAMED.database), copy);
  const again = await run(copy);
  expect(again.runs).toEqual(runs);
  expect(again.result.stages['candidates-domain']).toMatchObject({ executed: 0, disk: 1 });
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(copy);
  const connection = await instance.connect();
  await connection.run("insert into orders values (20, 3, timestamp '2024-05-30 10:00:00', 7)");
  connection.closeSync();
  instance.closeSync();
  const changed = await run(copy);
  expect(changed.result.stages['found-records']).toMatchObject({ executed: 1 });
  const listIds = ({ runs: found }: typeof changed) =>
    found
      .get('records')
      ?.get('q5')
      ?.map(({ id }) => id);
  expect(listIds(changed)).toEqual(['t5', 't3']);

  const [query] = SHOP_DOMAIN.queries;
  const sql = query?.sql.replace('order by', 'and ordered_at < cast($now as timestamp) order by');
  expect(listIds(await run(copy, { ...SHOP_DOMAIN, queries: [{ ...query, sql }] }))).toEqual(['t5']);
});

test.each(['records', 'words'])('a memory that grows answers as the run of the arm %s, byte for byte', async (arm) => {
  const { difference, queries } = await replayArm(load(NAMED), arm, { cacheFolder: null });
  expect([difference, queries]).toEqual([null, 6]);
});

test('a config holds the domain and the hash of the database; what is wrong with them names the place', () => {
  const [arm] = load(NAMED).arms;
  const { search } = arm as unknown as { readonly search: Readonly<Record<string, Plain>> };
  expect(search.domain).toMatchObject({
    domain: SHOP_DOMAIN,
    database: join(root, 'shop.duckdb'),
    hash: expect.stringMatching(/^[0-9a-f]{16,}$/),
    k: 30,
  });
  const faultsOf = (domain: Plain) => {
    try {
      load(domain);
    } catch (error) {
      return (error as ConfigurationError).faults.map(({ path, expected }) => `${path}: ${expected}`);
    }
    return [];
  };
  expect(faultsOf({ ...NAMED, database: 'none.duckdb' })[0]).toMatch(
    /^arms\.records\[0\]\.search\.domain\.database: a file of DuckDB, relative to .*none\.duckdb/,
  );
  expect(faultsOf({ ...NAMED, domain: 'none.yaml' })[0]).toMatch(
    /^arms\.records\[0\]\.search\.domain\.domain: a domain or/,
  );
  const broken = { ...SHOP_DOMAIN, queries: [{ ...SHOP_DOMAIN.queries[0], entity: 'invoice' }] };
  expect(faultsOf({ ...NAMED, domain: broken })[0]).toMatch(
    /^arms\.records\[0\]\.search\.domain\.domain: queries\[0\]\.entity: a type of entities \(customer, order\), not "invoice"/,
  );
});
