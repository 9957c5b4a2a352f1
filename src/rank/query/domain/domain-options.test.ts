import { expect, test } from 'vitest';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { readDomain } from './domain-options.ts';
import { SHOP_DOMAIN } from './shop.fixture.ts';

test('a domain that is broken is an error that names the place', () => {
  const query = SHOP_DOMAIN.queries[0]!;
  const read = (change: object) => () => readDomain({ ...SHOP_DOMAIN, ...change }, 'shop.yaml');
  expect(read({ queries: [{ ...query, entity: 'invoice' }] })).toThrow(/queries\[0\]\.entity: .*"invoice"/);
  expect(read({ queries: [query, query] })).toThrow(/queries\[1\]\.name/);
  expect(read({ queries: [] })).toThrow(ConfigurationError);
  expect(read({ ontology: { entities: { customer: { table: 'customers' } } } })).toThrow(
    /ontology\.entities\.customer\.id/,
  );
});
