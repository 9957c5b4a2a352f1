import { describe, expect, test } from 'vitest';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { drawSampleWorld } from './corpus.fixture.ts';
import { computeQueryReach, listTurnsWithin } from './subcorpus.ts';

const world = drawSampleWorld(3, 61, 11, 5);
const corpus = new Corpus(world.turns);
const askAlone = (query: Query): Query => ({ ...query, anchorTurnId: null, conversationId: query.cluster });

/** The positions of all turns that a query may be answered by, one by one. */
function listAnswerable(queries: readonly Query[]): number[] {
  const isEarlier = ({ timestamp, conversationId }: Query, position: number) => {
    const turn = corpus.turns[position];
    const asked = conversationId === undefined || turn?.conversationId === conversationId;
    return asked && (turn?.timestamp ?? Number.POSITIVE_INFINITY) < timestamp;
  };
  const positions = Array.from({ length: corpus.size }, (_, position) => position);
  return positions.filter((position) => queries.some((query) => isEarlier(query, position)));
}

describe('queries reach', () => {
  const some = [world.queries[2], world.queries[5]] as Query[];
  test.each<[string, readonly Query[]]>([
    ['nothing where there is none', []],
    ['every turn before the latest that asks the whole corpus', some],
    ['the turns of the conversation that they ask alone', some.map(askAlone)],
    ['both where both are asked', [some[0] as Query, ...world.queries.slice(3).map(askAlone)]],
    ['no more where an earlier query asks alone', [askAlone(some[0] as Query), some[1] as Query]],
  ])('%s', (_, queries) => {
    expect([...listTurnsWithin(corpus, computeQueryReach(corpus, queries))]).toEqual(listAnswerable(queries));
  });

  test('the anchor of a query, with the turns before it', () => {
    const [query] = some as [Query];
    const anchor = corpus.turns[corpus.countEarlierTurns(query.timestamp) - 1];
    const other = corpus.turns.find(({ conversationId }) => conversationId !== anchor?.conversationId);
    const asking = { ...query, anchorTurnId: anchor?.id ?? null, conversationId: other?.conversationId as string };
    const within = listTurnsWithin(corpus, computeQueryReach(corpus, [asking]));
    expect(within.has(corpus.countEarlierTurns(query.timestamp) - 1)).toBe(true);
    expect(within.size).toBeLessThan(corpus.countEarlierTurns(query.timestamp));
  });
});
