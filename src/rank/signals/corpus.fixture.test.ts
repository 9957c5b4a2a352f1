import { expect, test } from 'vitest';
import { Corpus } from '../../model/turns/corpus.ts';
import { drawSampleWorld } from './corpus.fixture.ts';

test.each([3, 7, 19])('the sample of seed %i holds what is easily overlooked', (seed) => {
  const { turns, queries, vectorOf } = drawSampleWorld(seed);
  const corpus = new Corpus(turns);
  expect([corpus.size, queries.length, vectorOf.size]).toEqual([103, 11, 114]);
  const count = (holds: (position: number) => boolean) => corpus.turns.filter((_, i) => holds(i)).length;
  expect(count((i) => corpus.timestamps[i] === corpus.timestamps[i + 1])).toBeGreaterThan(10);
  expect(count((i) => (corpus.parent[i] as number) > i)).toBeGreaterThan(0); // of one moment, the child first
  expect(count((i) => corpus.parent[i] === -1)).toBeGreaterThan(corpus.conversations.length);
  expect([...vectorOf.values()].filter((vector) => vector.every((value) => value === 0))).toHaveLength(1);
  expect(queries.filter(({ anchorTurnId }) => anchorTurnId !== null).length).toBeGreaterThan(1);
  expect(queries.filter(({ timestamp }) => corpus.timestamps.includes(timestamp)).length).toBeGreaterThan(1);
});

test('one seed gives one sample', () => {
  expect(drawSampleWorld(3)).toEqual(drawSampleWorld(3));
  expect(drawSampleWorld(5).turns).not.toEqual(drawSampleWorld(3).turns);
});
