import { expect, test } from 'vitest';
import { rankIdsDescending } from './id-order.ts';

test('places follow the bytes of the ids, last first', () => {
  const ids = ['b', 'é', 'a', 'ab', 'Z', 'ﬀ', '😀', '10', '9', 'bb', 'B', '_', '~'];
  const sorted = ids
    .map((id) => ({ id, hex: Buffer.from(id).toString('hex') }))
    .sort((a, b) => (a.hex < b.hex ? 1 : -1));
  expect([...rankIdsDescending(ids)]).toEqual(ids.map((id) => sorted.findIndex((entry) => entry.id === id)));
  expect(rankIdsDescending([])).toHaveLength(0);
});
