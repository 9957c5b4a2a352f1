import type { Query } from '../../../model/dataset.ts';
import type { Turn } from '../../../model/turns/turn.ts';

export const HOUR_MILLISECONDS = 3_600_000;
/** A Monday. */
export const START = Date.UTC(2024, 0, 1);

/** Id, conversation, parent, hour, author, channel and text, in time order; `a` has two sessions that take turns. */
const ROWS: readonly (readonly [string, string, string | null, number, string | null, string | null, string])[] = [
  ['a0', 'a', null, 0, 'Ann Lee', 'list', 'Shall we bake bread?'],
  ['b0', 'b', null, 1, 'Bo', 'list', 'soup'],
  ['a1', 'a', 'a0', 2, 'Bo', 'list', 'he has 3 eggs'],
  ['a2', 'a', 'a0', 3, 'Ann Lee', 'chat', 'is the oven warm?'],
  ['c0', 'c', null, 3, null, null, 'we met Mary in London on 5 May 2023'],
  ['a3', 'a', 'a1', 5, 'Cy', 'list', 'ann asked for salt'],
  ['b1', 'b', 'b0', 6, 'Ann Lee', 'list', 'more soup'],
  ['a4', 'a', 'a1', 8, 'Bo', 'list', 'how much salt?'],
  ['c1', 'c', 'c0', 9, 'Bo', null, 'Mary is well'],
  ['a5', 'a', 'a2', 11, 'Dora', 'chat', 'the oven is cold'],
  ['a6', 'a', 'a4', 13, 'Ann Lee', 'list', 'two spoons of salt'],
];

export const TURNS: readonly Turn[] = ROWS.map(([id, conversationId, parentId, hour, author, channel, text]) => ({
  id,
  conversationId,
  parentId,
  timestamp: START + hour * HOUR_MILLISECONDS,
  author,
  channel,
  text,
}));

/** A query at an hour. */
export function buildQueryAt(hour: number, others: Partial<Query> = {}): Query {
  return {
    id: 'q',
    text: 'salt',
    timestamp: START + hour * HOUR_MILLISECONDS,
    anchorTurnId: null,
    author: null,
    channel: null,
    split: 'dev',
    cluster: 'a',
    ...others,
  };
}
