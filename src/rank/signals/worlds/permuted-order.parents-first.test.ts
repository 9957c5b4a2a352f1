import { expect, test } from 'vitest';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { drawSampleWorld } from '../corpus.fixture.ts';
import { orderParentsFirst } from './permuted-order.ts';

const buildTurn = (id: string, parentId: string | null, timestamp: number): Turn => ({
  id,
  conversationId: 'c',
  parentId,
  timestamp,
  author: null,
  channel: null,
  text: id,
});

test('of one moment the less deep come first, of one depth those that stand first', () => {
  const corpus = new Corpus([
    buildTurn('f', null, 1),
    buildTurn('a', 'b', 2),
    buildTurn('b', 'e', 2),
    buildTurn('d', 'f', 2),
    buildTurn('e', 'f', 2),
    buildTurn('c', null, 3), // a later root
  ]);
  const [order] = orderParentsFirst(corpus);
  expect(Array.from(order!, (position) => corpus.turns[position]?.id)).toEqual(['f', 'd', 'e', 'b', 'a', 'c']);
});

test.each([3, 11, 23])('of sample %i every turn comes once, in time order, after the one that it answers', (seed) => {
  const corpus = new Corpus(drawSampleWorld(seed, 103, 2, 3).turns);
  let childFirst = 0;
  for (const [conversation, order] of orderParentsFirst(corpus).entries()) {
    const own = [...corpus.turns.keys()].filter((position) => corpus.conversationOf[position] === conversation);
    expect([...order].sort((a, b) => a - b)).toEqual(own);
    const times = Array.from(order, (position) => corpus.timestamps[position]!);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const [place, position] of order.entries()) {
      const above = corpus.parent[position]!;
      expect(order.indexOf(above)).toBeLessThan(place);
      if (above >= 0) expect(order.indexOf(above)).toBeGreaterThanOrEqual(0);
      childFirst += above > position ? 1 : 0;
    }
  }
  expect(childFirst).toBeGreaterThan(0);
});

test('later turns do not change the order of earlier turns', () => {
  const corpus = new Corpus(drawSampleWorld(11, 103, 2, 3).turns);
  const cut = corpus.countEarlierTurns(corpus.timestamps[71]!);
  const past = orderParentsFirst(new Corpus(corpus.turns.slice(0, cut)));
  for (const [conversation, order] of orderParentsFirst(corpus).entries())
    expect(past[conversation]).toEqual(order.filter((position) => position < cut));
});
