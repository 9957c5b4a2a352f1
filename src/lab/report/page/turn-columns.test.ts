import { expect, test } from 'vitest';
import { stateShown } from '../../../core/display/showable-text.ts';
import type { ArmResult, QueryRecord, TurnRecord } from '../../measure/result.ts';
import { buildHandmadeResult } from '../tables/result.fixture.ts';
import { packTurnColumns, selectShownTurns } from './turn-columns.ts';

const buildTurn = (id: string, conversationId: string, more: Partial<TurnRecord> = {}): TurnRecord => ({
  id,
  conversationId,
  parentId: null,
  timestamp: 7,
  author: null,
  channel: null,
  text: stateShown(id.toUpperCase()),
  ...more,
});
const turns = [
  buildTurn('a1', 'a'),
  buildTurn('b1', 'b'),
  buildTurn('a2', 'a'),
  buildTurn('c1', 'c'),
  buildTurn('b2', 'b'),
  buildTurn('d1', 'd'),
  buildTurn('d2', 'd'),
];

test('shown are the turns that an inspected arm ranks, and whole conversations of judged turns and of queries', () => {
  const sample = buildHandmadeResult();
  const [arm] = sample.arms as [ArmResult];
  const buildIdRanking = (...ids: string[]) => [ids.map((id) => ({ id, score: 1, components: [] }))];
  const arms = [
    { ...arm, name: 'seen', rankings: buildIdRanking('d2') },
    { ...arm, name: 'unseen', rankings: buildIdRanking('d1') },
  ];
  const [one] = sample.queries as [QueryRecord];
  const buildShownQuery = (turnId: string | null, judgements: Record<string, number>) => ({
    ...one,
    turnId,
    judgements,
  });
  const selectShownIds = (queries: QueryRecord[]) =>
    selectShownTurns({ ...sample, arms, queries, dataset: { ...sample.dataset, turns } }, new Set(['seen'])).map(
      ({ id }) => id,
    );
  expect(selectShownIds([buildShownQuery(null, { a2: 0 }), buildShownQuery('b1', {})])).toEqual([
    'a1',
    'b1',
    'a2',
    'b2',
    'd2',
  ]);
  expect(selectShownIds([buildShownQuery(null, { elsewhere: 3 })])).toEqual(['d2']);
});

test('columns hold each name once, parents by the positions that they are given, and nothing as -1', () => {
  const rows = [
    buildTurn('x', 'kitchen', { author: 'mary', channel: 'kitchen' }),
    buildTurn('y', 'bakery', { parentId: 'x', author: null, timestamp: 11 }),
    buildTurn('z', 'kitchen', { parentId: 'gone', author: 'bakery', timestamp: 13 }),
  ];
  const positions = new Map([
    ['x', 5],
    ['y', 6],
  ]);
  const { names, ...columns } = packTurnColumns(rows, positions);
  const listColumnNames = (column: readonly number[]) => column.map((at) => names[at] ?? at);
  expect(listColumnNames(columns.conversation)).toEqual(['kitchen', 'bakery', 'kitchen']);
  expect(listColumnNames(columns.author)).toEqual(['mary', -1, 'bakery']);
  expect(listColumnNames(columns.channel)).toEqual(['kitchen', -1, -1]);
  expect([...names].sort()).toEqual(['bakery', 'kitchen', 'mary']);
  expect(columns).toMatchObject({
    id: ['x', 'y', 'z'],
    parent: [-1, 5, -1],
    timestamp: [7, 11, 13],
    text: ['X', 'Y', 'Z'],
  });
});
