import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigurationError, ValidationError } from '../../core/errors/errors.ts';
import { expandEntities, type FindRelated, readOntology } from './ontology.ts';

const table = (name: string) => ({ table: name, id: `${name}_id` });
const join = { table: 'orders', from: 'customer_id', to: 'order_id' };
const SHOP = {
  entities: { customer: { ...table('customers'), name: 'name' }, order: table('orders'), product: table('products') },
  relations: [
    { from: 'customer', relation: 'has_many', to: 'order', join },
    { from: 'order', relation: 'belongs_to', to: 'customer', join: { ...join, from: 'order_id', to: 'customer_id' } },
    {
      from: 'order',
      relation: 'contains',
      to: 'product',
      join: { table: 'lines', from: 'order_id', to: 'product_id' },
    },
  ],
};
const ontology = readOntology(SHOP);
/** Customer 1 has 15 orders, and order n contains products n and 99. */
const find: FindRelated = async (id, { from, to }) => {
  if (from === 'customer') return id === '1' ? Array.from({ length: 15 }, (_, i) => `${i}`) : [];
  return to === 'customer' ? ['1'] : [id, '99'];
};

describe('an ontology', () => {
  test.each([
    ['an unknown type', { relations: [{ ...SHOP.relations[0], to: 'invoice' }] }, /relations\[0\]\.to: .*"invoice"/],
    ['a missing join', { relations: [{ from: 'customer', relation: 'x', to: 'order' }] }, /relations\[0\]\.join/],
    [
      'a relation twice',
      { relations: [SHOP.relations[0], SHOP.relations[0]] },
      /relations\[1\]: .*customer has_many order/,
    ],
    [
      'a column that is no name',
      { entities: { customer: { table: 'a; drop', id: 'id' } } },
      /entities\.customer\.table/,
    ],
    ['an unknown key', { joins: [] }, /joins/],
  ])('with %s is an error', (_, change, message) => {
    const read = () => readOntology({ ...SHOP, ...change }, 'shop.yaml');
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(message);
  });
});

describe('entities are expanded', () => {
  test('by one step and ten entities of a relation, without an option', async () => {
    const orders = Array.from({ length: 10 }, (_, i) => `order:${i}`);
    expect(await expandEntities(['customer:1'], ontology, find)).toEqual(['customer:1', ...orders]);
    expect(await expandEntities(['customer:1'], ontology, find, { depth: 0 })).toEqual(['customer:1']);
  });

  test('over a cycle once', async () => {
    const found = await expandEntities(['customer:1'], ontology, find, { depth: 5, fanOut: 2 });
    expect(found).toEqual(['customer:1', 'order:0', 'order:1', 'product:0', 'product:99', 'product:1']);
  });

  test('but for a type that the ontology lacks', async () => {
    expect(await expandEntities(['town:7'], ontology, find)).toEqual(['town:7']);
    await expect(expandEntities(['acme'], ontology, find)).rejects.toThrow(ValidationError);
    await expect(expandEntities(['order:1'], ontology, find, { depth: 6 })).rejects.toThrow(ConfigurationError);
  });

  test('to each entity once, within the bound of its steps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(3), fc.integer({ min: 1, max: 4 }), async (depth, fanOut) => {
        const found = await expandEntities(['customer:1', 'customer:2'], ontology, find, { depth, fanOut });
        expect(new Set(found).size).toBe(found.length);
        // Every entity has at most two relations.
        expect(found.length).toBeLessThanOrEqual(2 * (2 * fanOut + 1) ** depth);
      }),
      { numRuns: 30 },
    );
  });
});
