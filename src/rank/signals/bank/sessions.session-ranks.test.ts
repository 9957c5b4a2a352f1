import { describe, expect, test } from 'vitest';
import { Corpus } from '../../../model/turns/corpus.ts';
import { groupSessions } from '../../../model/turns/sessions.ts';
import { SessionRanks } from './sessions.ts';
import { TURNS } from './small-threads.fixture.ts';
import { drawSampleThreads } from './threads.fixture.ts';

describe.each([
  ['by hand', TURNS],
  ['drawn', drawSampleThreads(7).turns],
])('in threads %s', (_, turns) => {
  const corpus = new Corpus(turns);
  const sessions = groupSessions(corpus);
  const ranks = new SessionRanks(corpus, sessions);
  const cutoffs = [...corpus.turns.keys(), corpus.size];

  test('a turn ranks below the later turns of its channel', () => {
    for (const cutoff of cutoffs) {
      for (const [position, { channel }] of corpus.turns.slice(0, cutoff).entries()) {
        const later = corpus.turns.slice(position + 1, cutoff).filter((turn) => turn.channel === channel);
        expect(ranks.countChannelTurnsAfter(position, cutoff)).toBe(later.length);
      }
    }
  });

  test.each([[undefined], ['list'], ['chat'], [null], ['nowhere']])(
    'sessions stand by their last turn: channel %s',
    (channel) => {
      for (const cutoff of cutoffs) {
        const newestFirst = corpus.turns
          .slice(0, cutoff)
          .filter((turn) => channel === undefined || turn.channel === channel)
          .map((turn) => `${turn.conversationId} ${turn.channel}`)
          .reverse();
        const order = [...new Set(newestFirst)];
        const expected = sessions.members.map(([first]) => {
          const turn = corpus.turns[first as number];
          return order.indexOf(`${turn?.conversationId} ${turn?.channel}`);
        });
        expect([...ranks.rankSessions(cutoff, channel)]).toEqual(expected);
      }
    },
  );
});
