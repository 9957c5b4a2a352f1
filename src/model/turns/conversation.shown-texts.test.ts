import { expect, test } from 'vitest';
import type { Query } from '../dataset.ts';
import { showContext, showQuery, showRecord, showTurn } from './conversation.ts';
import type { Turn } from './turn.ts';

const HIDDEN = '(sensitive: not shown)';
const place = { conversationId: 'c', parentId: null, timestamp: 1, author: null, channel: null };
const open: Turn = { id: 't', text: 'noon', ...place };
const secret: Turn = { id: 's', text: 'the pin is 4711', ...place, attributes: { sensitive: true, title: 'pins' } };
const corpus = { getTurn: (id: string) => (id === 's' ? secret : open) };
const query: Query = {
  ...{ id: 'q', text: 'which pin?', timestamp: 2, anchorTurnId: null, author: null, channel: null },
  ...{ split: 'test', cluster: 'c' },
};

test('a turn, a record and a query are shown unless they are sensitive', () => {
  expect([showTurn(open), showTurn(secret)]).toEqual(['noon', HIDDEN]);
  const [kept, hidden] = [{ rank: 1 }, { sensitive: true, title: 'pins' }].map((metadata) => ({
    context: 'x',
    metadata,
  }));
  expect([kept, hidden].map((record) => showContext(record as never))).toEqual(['x', HIDDEN]);
  expect(showRecord(kept as never)).toEqual(kept);
  expect(showRecord(hidden as never)).toEqual({ context: HIDDEN, metadata: { sensitive: true } });
  const marked: Query = { ...query, attributes: { sensitive: true } };
  const asked = [query, { ...query, turnId: 't' }, { ...query, turnId: 's' }, marked];
  expect(asked.map((one) => showQuery(one, corpus))).toEqual(['which pin?', 'which pin?', HIDDEN, HIDDEN]);
});
