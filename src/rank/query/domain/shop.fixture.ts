import type { DomainInput } from './domain-options.ts';
import { loadDuckDb } from './duckdb-database.ts';

const STATEMENTS = [
  'create table customers (customer_id integer, name varchar, short varchar)',
  `insert into customers values (1, 'Kai Media', 'Kai'), (2, 'Nordwind Books', null), (3, 'O''Hara "&" Sons', 'OHS')`,
  'create table orders (order_id integer, customer_id integer, ordered_at timestamp, total double)',
  `insert into orders values (17, 1, timestamp '2024-04-03 10:00:00', 120.5), (18, 1, timestamp '2024-05-02 10:00:00', 80), (19, 2, timestamp '2024-04-20 10:00:00', 15)`,
];

/** A small shop in a file of DuckDB. */
export async function writeShopDatabase(path: string): Promise<void> {
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of STATEMENTS) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
}

export const SHOP_DOMAIN: DomainInput = {
  ontology: {
    entities: {
      customer: { table: 'customers', id: 'customer_id', name: 'name', aliases: ['short'] },
      order: { table: 'orders', id: 'order_id' },
    },
    relations: [
      {
        ...{ from: 'customer', relation: 'has_many', to: 'order' },
        join: { table: 'orders', from: 'customer_id', to: 'order_id' },
      },
    ],
  },
  queries: [
    {
      name: 'orders',
      entity: 'customer',
      sql: `select order_id, strftime(ordered_at, '%Y-%m-%d') as day, total from orders
            where cast(customer_id as varchar) = $entity
              and ($start is null or ordered_at >= cast($start as timestamp)) and ($end is null or ordered_at < cast($end as timestamp))
            order by ordered_at desc`,
      text: 'order {order_id} of {day}: {total}',
    },
  ],
};
