import { describe, expect, test } from 'vitest';
import { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import { sampleWorld } from '../signals/corpus.fixture.ts';
import { queryReach, turnsWithin } from './query-reach.ts';

const world = sampleWorld(3, 61, 11, 5);
const corpus = new Corpus(world.turns);
const alone = (query: Query): Query => ({ ...query, anchorTurnId: null, conversationId: query.cluster });

/** The positions of all turns that a query may be answered by, one by one. */
function answering(queries: readonly Query[]): number[] {
  const before = ({ timestamp, conversationId }: Query, position: number) => {
    const turn = corpus.turns[position];
    const asked = conversationId === undefined || turn?.conversationId === conversationId;
    return asked && (turn?.timestamp ?? Number.POSITIVE_INFINITY) < timestamp;
  };
  const positions = Array.from({ length: corpus.size }, (_, position) => position);
  return positions.filter((position) => queries.some((query) => before(query, position)));
}

describe('queries reach', () => {
  const some = [world.queries[2], world.queries[5]] as Query[];
  test.each<[string, readonly Query[]]>([
    ['nothing where there is none', []],
    ['every turn before the latest that asks the whole corpus', some],
    ['the turns of the conversation that they ask alone', some.map(alone)],
    ['both where both are asked', [some[0] as Query, ...world.queries.slice(3).map(alone)]],
    ['no more where an earlier query asks alone', [alone(some[0] as Query), some[1] as Query]],
  ])('%s', (_, queries) => {
    expect([...turnsWithin(corpus, queryReach(corpus, queries))]).toEqual(answering(queries));
  });

  test('the anchor of a query, with the turns before it', () => {
    const [query] = some as [Query];
    const anchor = corpus.turns[corpus.cutoff(query.timestamp) - 1];
    const other = corpus.turns.find(({ conversationId }) => conversationId !== anchor?.conversationId);
    const asking = { ...query, anchorTurnId: anchor?.id ?? null, conversationId: other?.conversationId as string };
    const within = turnsWithin(corpus, queryReach(corpus, [asking]));
    expect(within.has(corpus.cutoff(query.timestamp) - 1)).toBe(true);
    expect(within.size).toBeLessThan(corpus.cutoff(query.timestamp));
  });
});
