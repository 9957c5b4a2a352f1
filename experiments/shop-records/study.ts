import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { computeHash } from '../../src/core/hash/hash.ts';
import { SHOP_KINDS } from '../../src/data/prepared/datasets.ts';
import { type DrawnShop, drawShop } from '../../src/data/synthetic/draw-shop.ts';
import { askShop, isDevQuestion, listTestTexts, type ShopQuestion } from '../../src/data/synthetic/shop.ts';
import { type Estimate, groupIntoClusters, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';
import { describeHeldOut } from '../../src/lab/measure/passport.ts';
import { createDomainSource } from '../../src/memory/context/domain-source.ts';
import type { ItemSource } from '../../src/memory/context/source.ts';
import { readDomain } from '../../src/rank/query/domain/domain-options.ts';
import { openDomainDatabase } from '../../src/rank/query/domain/domain-records.ts';
import { loadDuckDb } from '../../src/rank/query/domain/duckdb-database.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { formatShopTables } from './shop-tables.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  shopSeed: z.int().default(1),
  customers: z.int().min(10).max(400).default(40),
  questions: z.int().min(12).max(2000).default(150),
  split: z.enum(['dev', 'test', 'all']).default('test'),
  samples: z.int().min(100).default(10_000),
});

const ONTOLOGY = {
  entities: {
    customer: { table: 'customers', id: 'customer_id', name: 'name' },
    order: { table: 'orders', id: 'order_id' },
  },
  relations: [
    {
      from: 'customer',
      relation: 'has_many',
      to: 'order',
      join: { table: 'orders', from: 'customer_id', to: 'order_id' },
    },
  ],
};
const WINDOW =
  '($start is null or ordered_at >= cast($start as timestamp)) and ($end is null or ordered_at < cast($end as timestamp))';

/** The same shop asked in three ways. */
const DOMAINS = {
  'by customer and time': {
    queries: [
      {
        ...{ name: 'orders', entity: 'customer', text: 'order {order_id}' },
        sql: `select order_id from orders where customer_id = $entity and ${WINDOW} order by ordered_at desc`,
      },
    ],
  },
  'by customer alone': {
    queries: [
      {
        ...{ name: 'orders', entity: 'customer', text: 'order {order_id}' },
        sql: 'select order_id from orders where customer_id = $entity order by ordered_at desc',
      },
    ],
  },
  'by the orders that the ontology joins': {
    queries: [
      {
        ...{ name: 'orders', entity: 'order', text: 'order {order_id}' },
        sql: `select order_id from orders where cast(order_id as varchar) = $entity and ${WINDOW}`,
      },
    ],
  },
} as const;

async function writeDatabase(shop: DrawnShop, folder: string): Promise<string> {
  const path = join(folder, 'shop.duckdb');
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const [table, csv] of Object.entries(formatShopTables(shop))) {
    const file = join(folder, `${table}.csv`);
    writeFileSync(file, csv);
    await connection.run(`create table ${table} as select * from read_csv('${file}', header = true)`);
  }
  connection.closeSync();
  instance.closeSync();
  return path;
}

interface Found {
  /** Orders of the answer that were found; null without any in the answer. */
  readonly recall: number | null;
  /** Orders that were found and are in the answer; null where nothing was found. */
  readonly precision: number | null;
  readonly records: number;
}

async function askRecords(source: ItemSource, { text, timestamp, orders }: ShopQuestion): Promise<Found> {
  const { signal } = new AbortController();
  const items = await source({ query: text, k: 100, session: null, now: timestamp, signal });
  const found = items.map((item) => Number(item.text.replace('order ', '')));
  const right = found.filter((order) => orders.includes(order)).length;
  return {
    recall: orders.length === 0 ? null : right / orders.length,
    precision: found.length === 0 ? null : right / found.length,
    records: found.length,
  };
}

const formatNumber = (value: number) => value.toFixed(3).replace(/^0/, '');
const formatEstimate = (estimate: Estimate | null) => {
  if (estimate === null) return '-';
  const { mean, low, high } = estimate;
  return low === null ? formatNumber(mean) : `${formatNumber(mean)} [${formatNumber(low)}, ${formatNumber(high)}]`;
};

/** True if questions about a shop find the orders that answer them, and no others. */
export const shopRecords: Study<typeof settings> = {
  name: 'shop-records',
  description: 'whether questions about a shop find the orders that answer them in its database, and no others',
  settings,
  measure: async ({ seed, shopSeed, customers, questions: count, split, samples }) => {
    const options = { seed: shopSeed, customers, questions: count };
    const shop = drawShop(options);
    const questions = askShop(shop, options).filter(
      (question) => split === 'all' || isDevQuestion(question) === (split === 'dev'),
    );
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-shop-'));
    const rows: {
      domain: string;
      kind: string;
      questions: number;
      recall: Estimate | null;
      precision: Estimate | null;
      records: number;
    }[] = [];
    const database = await openDomainDatabase(await writeDatabase(shop, folder));
    try {
      for (const [name, { queries }] of Object.entries(DOMAINS)) {
        const domain = readDomain({ ontology: ONTOLOGY, queries: [...queries] });
        const source = createDomainSource({ database, domain, timeZone: 'UTC' });
        for (const kind of SHOP_KINDS) {
          const asked = questions.filter((question) => question.kind === kind);
          const found: Found[] = [];
          for (const question of asked) found.push(await askRecords(source, question));
          const estimate = (part: 'recall' | 'precision') => {
            const held = found.flatMap((one, i) =>
              one[part] === null ? [] : [{ value: one[part], cluster: asked[i]!.cluster }],
            );
            if (held.length < 2) return null;
            const clusters = groupIntoClusters(held.map(({ cluster }) => cluster));
            return meanIntervals([held.map(({ value }) => value)], clusters, { samples, seed })[0] as Estimate;
          };
          const records = found.reduce((sum, one) => sum + one.records, 0) / Math.max(1, found.length);
          rows.push({
            domain: name,
            kind,
            questions: asked.length,
            recall: estimate('recall'),
            precision: estimate('precision'),
            records,
          });
        }
      }
    } finally {
      await database.dispose();
      rmSync(folder, { recursive: true });
    }
    return {
      dataset: { name: `shop, ${questions.length} questions (${split})`, hash: computeHash([shop, questions]) },
      tested: [describeHeldOut('shop', computeHash(shop), listTestTexts(questions))],
      figures: { rows },
      sections: [
        'Recall: the orders of the answer that are in the context. Precision: the orders in the context that are in the answer. 95 % intervals by customer.',
        formatPipeTable({
          head: ['database asked', 'kind', 'questions', 'recall', 'precision', 'records a question'],
          rows: rows.map((row) => [
            ...[row.domain, row.kind, `${row.questions}`],
            ...[formatEstimate(row.recall), formatEstimate(row.precision), row.records.toFixed(1)],
          ]),
        }),
      ],
    };
  },
};
