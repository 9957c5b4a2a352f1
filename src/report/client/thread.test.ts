import { expect, test } from 'vitest';
import type { ExperimentResult, TurnRecord } from '../../experiment/measure/result.ts';
import { sampleResult } from '../page/invented-result.fixture.ts';
import { payloadOf } from '../page/payload.ts';
import { createApp } from './app.ts';
import { placesOf } from './thread.ts';

const turn = (id: string, parentId: string | null, hour: number, conversationId = 'one'): TurnRecord => ({
  id,
  conversationId,
  parentId,
  timestamp: hour * 3_600_000,
  author: null,
  channel: null,
  text: id,
});

/** Two roots, siblings given out of time order, and a turn of another conversation. */
const turns = [
  turn('late', 'root', 9),
  turn('early', 'root', 2),
  turn('root', null, 1),
  turn('second root', null, 3),
  turn('below', 'early', 12),
  turn('stranger', null, 4, 'two'),
];

function outline(turnId: string | null, grades: Readonly<Record<string, number>>): string[] {
  const sample = sampleResult(23, { arms: 2, threads: 2, turnsAThread: 5, top: 1 });
  const queries = sample.queries.map((query) => ({ ...query, id: 'q', turnId, judgements: grades }));
  const arms = sample.arms.map((arm) => ({ ...arm, rankings: queries.map(() => []) }));
  const result: ExperimentResult = { ...sample, queries, arms, dataset: { ...sample.dataset, turns } };
  const app = createApp(payloadOf(result));
  const positions = new Map(turns.map(({ id }, at) => [id, at]));
  const byTurn = new Map(Object.entries(grades).map(([id, grade]) => [positions.get(id) ?? -1, grade]));
  const conversation = app.data.turns.conversation[0] ?? -1;
  return placesOf(app, conversation, 0, byTurn).map(
    (place) =>
      '  '.repeat(place.depth) +
      (place.isQuery ? `query ${turns[place.turn]?.id ?? ''}`.trim() : turns[place.turn]?.id),
  );
}

test('a conversation stands depth first, siblings by time', () => {
  expect(outline('below', { root: 2 })).toEqual(['root', '  early', '    query below', '  late', 'second root']);
});

test('a query that is no turn is below its parent', () => {
  expect(outline(null, { early: 3, root: 2 })).toEqual([
    'root',
    '  early',
    '    query',
    '    below',
    '  late',
    'second root',
  ]);
});

test('without a single parent a query that is no turn has no place', () => {
  expect(outline(null, { early: 3, late: 3 })).toEqual(['root', '  early', '    below', '  late', 'second root']);
});
