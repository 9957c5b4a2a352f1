import type { DrawnShop } from '../../src/data/synthetic/draw-shop.ts';

/** A table as a CSV file: every value is quoted. */
function formatCsv(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const formatCell = (value: string | number) => `"${String(value).replaceAll('"', '""')}"`;
  return `${[head, ...rows].map((row) => row.map(formatCell).join(',')).join('\n')}\n`;
}

/** The tables of the shop's database by name, as CSV files. Times are UTC. */
export function formatShopTables({ customers, orders }: Pick<DrawnShop, 'customers' | 'orders'>) {
  return {
    customers: formatCsv(
      ['customer_id', 'name'],
      customers.map(({ customer: { customer_id, name } }) => [customer_id, name]),
    ),
    orders: formatCsv(
      ['order_id', 'customer_id', 'ordered_at', 'product', 'total'],
      orders.map(({ order_id, customer_id, ordered_at, product, total }) => {
        const day = new Date(ordered_at).toISOString().slice(0, 19).replace('T', ' ');
        return [order_id, customer_id, day, product, total];
      }),
    ),
  };
}
