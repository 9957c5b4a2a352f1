import { expect, test } from 'vitest';
import { drawShop } from '../../src/data/synthetic/draw-shop.ts';
import { formatShopTables } from './shop-tables.ts';

test('the tables of the shop are CSV that other programs read', () => {
  const { customers, orders } = formatShopTables(drawShop({}));
  expect(customers.split('\n')).toHaveLength(42);
  expect(orders.split('\n')[0]).toBe('"order_id","customer_id","ordered_at","product","total"');
  expect(orders.split('\n')[1]).toMatch(/^"1000","[a-z]+-[a-z]+","2024-01-\d\d \d\d:\d\d:\d\d","\w+","\d+"$/);
  expect(formatShopTables({ orders: [], customers: [] }).orders.trim().split('\n')).toHaveLength(1);
});
