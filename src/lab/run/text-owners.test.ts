import { expect, test } from 'vitest';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { listTextOwners } from './text-owners.ts';

const turn = (id: string, sensitive?: boolean): Turn => ({
  ...{ id, conversationId: 'c', parentId: null, timestamp: 1, author: null, channel: null, text: id },
  ...(sensitive === undefined ? {} : { attributes: { sensitive } }),
});
const query = (id: string, more: Partial<Query> = {}): Query => ({
  ...{ id, text: id, timestamp: 2, anchorTurnId: null, author: null, channel: null, split: 'test', cluster: 'c' },
  ...more,
});

test('a query is sensitive by its attribute or by the turn that it is, also beyond the embedded turns', () => {
  const turns = [turn('a'), turn('b', true), turn('c', false), turn('d', true)];
  const queries = [query('p'), query('q', { turnId: 'd' }), query('r', { attributes: { sensitive: true } })];
  expect(listTextOwners(turns.slice(0, 3), queries, { turns })).toEqual([
    { kind: 'turn', id: 'a' },
    { kind: 'turn', id: 'b', sensitive: true },
    { kind: 'turn', id: 'c' },
    { kind: 'query', id: 'p' },
    { kind: 'query', id: 'q', sensitive: true },
    { kind: 'query', id: 'r', sensitive: true },
  ]);
});
