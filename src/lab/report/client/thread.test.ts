import { expect, test } from 'vitest';
import { stateShown } from '../../../core/display/display.ts';
import type { ExperimentResult, TurnRecord } from '../../measure/result.ts';
import { inventResult } from '../page/invented-result.fixture.ts';
import { buildPayload } from '../page/payload.ts';
import { createApp } from './app.ts';
import { layOutThread } from './thread.ts';

const buildTurn = (id: string, parentId: string | null, hour: number, conversationId = 'one'): TurnRecord => ({
  id,
  conversationId,
  parentId,
  timestamp: hour * 3_600_000,
  author: null,
  channel: null,
  text: stateShown(id),
});

/** Two roots, siblings given out of time order, and a turn of another conversation. */
const turns = [
  buildTurn('late', 'root', 9),
  buildTurn('early', 'root', 2),
  buildTurn('root', null, 1),
  buildTurn('second root', null, 3),
  buildTurn('below', 'early', 12),
  buildTurn('stranger', null, 4, 'two'),
];

function outlineThreads(turnId: string | null, grades: Readonly<Record<string, number>>): string[] {
  const sample = inventResult(23, { arms: 2, threads: 2, turnsAThread: 5, top: 1 });
  const queries = sample.queries.map((query) => ({ ...query, id: 'q', turnId, judgements: grades }));
  const arms = sample.arms.map((arm) => ({ ...arm, rankings: queries.map(() => []) }));
  const result: ExperimentResult = { ...sample, queries, arms, dataset: { ...sample.dataset, turns } };
  const app = createApp(buildPayload(result));
  const positions = new Map(turns.map(({ id }, at) => [id, at]));
  const byTurn = new Map(Object.entries(grades).map(([id, grade]) => [positions.get(id) ?? -1, grade]));
  const conversation = app.data.turns.conversation[0] ?? -1;
  return layOutThread(app, conversation, 0, byTurn).map(
    (place) =>
      '  '.repeat(place.depth) +
      (place.isQuery ? `query ${turns[place.turn]?.id ?? ''}`.trim() : turns[place.turn]?.id),
  );
}

test('a conversation stands depth first, siblings by time', () => {
  expect(outlineThreads('below', { root: 2 })).toEqual(['root', '  early', '    query below', '  late', 'second root']);
});

test('a query that is no turn is below its parent', () => {
  expect(outlineThreads(null, { early: 3, root: 2 })).toEqual([
    'root',
    '  early',
    '    query',
    '    below',
    '  late',
    'second root',
  ]);
});

test('without a single parent a query that is no turn has no place', () => {
  expect(outlineThreads(null, { early: 3, late: 3 })).toEqual([
    'root',
    '  early',
    '    below',
    '  late',
    'second root',
  ]);
});
