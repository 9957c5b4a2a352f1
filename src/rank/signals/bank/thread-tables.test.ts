import { expect, test } from 'vitest';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { TURNS } from './small-threads.fixture.ts';
import { ThreadTables } from './thread-tables.ts';
import { drawSampleThreads } from './threads.fixture.ts';

test.each([
  ['by hand', TURNS],
  ['drawn', drawSampleThreads(5).turns],
])('every figure is that of the turns before the cutoff: threads %s', (_, turns) => {
  const corpus = new Corpus(turns);
  const tables = new ThreadTables(corpus);
  const authors = [...new Set(turns.flatMap(({ author }) => author ?? []))];
  const countTurnDepth = ({ parentId }: Turn): number =>
    parentId === null ? 0 : 1 + countTurnDepth(corpus.getTurn(parentId));
  for (let cutoff = 1; cutoff <= corpus.size; cutoff++) {
    const past = corpus.turns.slice(0, cutoff);
    for (const [position, turn] of past.entries()) {
      const thread = past.filter(({ conversationId }) => conversationId === turn.conversationId);
      const children = past.filter(({ parentId }) => parentId === turn.id);
      const speakers = new Set(thread.flatMap(({ author }) => author ?? []));
      expect(tables.depth[position]).toBe(countTurnDepth(turn));
      expect(tables.countThreadTurns(position, cutoff)).toBe(thread.length);
      expect(corpus.turns[tables.findNewestBefore(position, cutoff)]).toBe(thread.at(-1));
      expect(tables.countChildrenBefore(position, cutoff)).toBe(children.length);
      expect(tables.countSpeakers(position, cutoff)).toBe(speakers.size);
      for (const author of [...authors, 'nobody']) {
        expect(tables.hasSpoken(author, position, cutoff)).toBe(speakers.has(author));
        expect(tables.isAnsweredBy(author, position, cutoff)).toBe(children.some((child) => child.author === author));
      }
    }
  }
});
