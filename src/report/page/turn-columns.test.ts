import { expect, test } from 'vitest';
import type { ArmResult, QueryRecord, TurnRecord } from '../../experiment/measure/result.ts';
import { handmadeResult } from '../tables/result.fixture.ts';
import { shownTurns, turnColumns } from './turn-columns.ts';

const turn = (id: string, conversationId: string, more: Partial<TurnRecord> = {}): TurnRecord => ({
  id,
  conversationId,
  parentId: null,
  timestamp: 7,
  author: null,
  channel: null,
  text: id.toUpperCase(),
  ...more,
});
const turns = [
  turn('a1', 'a'),
  turn('b1', 'b'),
  turn('a2', 'a'),
  turn('c1', 'c'),
  turn('b2', 'b'),
  turn('d1', 'd'),
  turn('d2', 'd'),
];

test('shown are the turns that an inspected arm ranks, and whole conversations of judged turns and of queries', () => {
  const sample = handmadeResult();
  const [arm] = sample.arms as [ArmResult];
  const ranking = (...ids: string[]) => [ids.map((id) => ({ id, score: 1, components: [] }))];
  const arms = [
    { ...arm, name: 'seen', rankings: ranking('d2') },
    { ...arm, name: 'unseen', rankings: ranking('d1') },
  ];
  const [one] = sample.queries as [QueryRecord];
  const query = (turnId: string | null, judgements: Record<string, number>) => ({ ...one, turnId, judgements });
  const shown = (queries: QueryRecord[]) =>
    shownTurns({ ...sample, arms, queries, dataset: { ...sample.dataset, turns } }, new Set(['seen'])).map(
      ({ id }) => id,
    );
  expect(shown([query(null, { a2: 0 }), query('b1', {})])).toEqual(['a1', 'b1', 'a2', 'b2', 'd2']);
  expect(shown([query(null, { elsewhere: 3 })])).toEqual(['d2']);
});

test('columns hold each name once, parents by the positions that they are given, and nothing as -1', () => {
  const rows = [
    turn('x', 'kitchen', { author: 'mary', channel: 'kitchen' }),
    turn('y', 'bakery', { parentId: 'x', author: null, timestamp: 11 }),
    turn('z', 'kitchen', { parentId: 'gone', author: 'bakery', timestamp: 13 }),
  ];
  const positions = new Map([
    ['x', 5],
    ['y', 6],
  ]);
  const { names, ...columns } = turnColumns(rows, positions);
  const named = (column: readonly number[]) => column.map((at) => names[at] ?? at);
  expect(named(columns.conversation)).toEqual(['kitchen', 'bakery', 'kitchen']);
  expect(named(columns.author)).toEqual(['mary', -1, 'bakery']);
  expect(named(columns.channel)).toEqual(['kitchen', -1, -1]);
  expect([...names].sort()).toEqual(['bakery', 'kitchen', 'mary']);
  expect(columns).toMatchObject({
    id: ['x', 'y', 'z'],
    parent: [-1, 5, -1],
    timestamp: [7, 11, 13],
    text: ['X', 'Y', 'Z'],
  });
});
