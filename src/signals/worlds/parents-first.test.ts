import { expect, test } from 'vitest';
import { Corpus } from '../../model/corpus.ts';
import type { Turn } from '../../model/turn.ts';
import { sampleWorld } from '../corpus.fixture.ts';
import { parentsFirst } from './parents-first.ts';

const turn = (id: string, parentId: string | null, timestamp: number): Turn => ({
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
    turn('f', null, 1),
    turn('a', 'b', 2),
    turn('b', 'e', 2),
    turn('d', 'f', 2),
    turn('e', 'f', 2),
    turn('c', null, 3), // a later root
  ]);
  const [order] = parentsFirst(corpus);
  expect(Array.from(order!, (position) => corpus.turns[position]?.id)).toEqual(['f', 'd', 'e', 'b', 'a', 'c']);
});

test.each([3, 11, 23])('of sample %i every turn comes once, in time order, after the one that it answers', (seed) => {
  const corpus = new Corpus(sampleWorld(seed, 103, 2, 3).turns);
  let childFirst = 0;
  for (const [conversation, order] of parentsFirst(corpus).entries()) {
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
  const corpus = new Corpus(sampleWorld(11, 103, 2, 3).turns);
  const cut = corpus.cutoff(corpus.timestamps[71]!);
  const past = parentsFirst(new Corpus(corpus.turns.slice(0, cut)));
  for (const [conversation, order] of parentsFirst(corpus).entries())
    expect(past[conversation]).toEqual(order.filter((position) => position < cut));
});
