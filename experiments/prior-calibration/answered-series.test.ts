import { expect, test } from 'vitest';
import { Corpus } from '../../src/model/turns/corpus.ts';
import { buildAnsweredSeries } from './answered-series.ts';

const HOUR = 3_600_000;
const turn = (id: string, parentId: string | null, hours: number, author: string) => ({
  id,
  conversationId: id[0] as string,
  parentId,
  timestamp: hours * HOUR,
  author,
  channel: null,
  text: `words of ${id}`,
});

const TURNS = [
  turn('a1', null, 0, 'ana'),
  turn('a2', 'a1', 5, 'bea'), // answers a1 in time
  turn('b1', null, 6, 'ana'),
  turn('b2', 'b1', 7, 'ana'), // her own words: no answer
  turn('c1', null, 8, 'ana'),
  turn('c2', 'c1', 19, 'bea'), // too late
  turn('d1', null, 25, 'ana'),
  turn('d2', 'd1', 28, 'bea'), // in time, but ten hours after d2 are not over
  turn('e1', null, 36, 'ana'),
];

test('a turn is answered by somebody else within the hours, and has no outcome if these are not over', () => {
  const dataset = { name: 'drawn', corpus: new Corpus(TURNS), devConversations: new Set(['a', 'b']), hash: '' };
  const { turns, delay, facts } = buildAnsweredSeries(dataset, 10);
  expect(delay).toBe(10 * HOUR);
  expect(turns.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['a1', 1],
    ['a2', 0],
    ['b1', 0],
    ['b2', 0],
    ['c1', 0],
    ['c2', 0],
    ['d1', 1],
  ]);
  expect(facts).toEqual({ 'left out: outcome after the end of the corpus': 2 });
  expect(turns.map(({ dev }) => dev)).toEqual([true, true, true, true, false, false, false]);
  expect(turns.map(({ cluster }) => cluster)).toEqual(['a', 'a', 'b', 'b', 'c', 'c', 'd']);
});
