import { describe, expect, it } from 'vitest';
import { Corpus } from '../../model/turns/corpus.ts';
import { splitQueries } from './jsonl.ts';
import { queryRow } from './jsonl-rows.ts';

const corpus = new Corpus(
  Array.from({ length: 11 }, (_, i) => ({
    id: `r${i}`,
    conversationId: `c${i}`,
    parentId: null,
    timestamp: 100 * i,
    author: null,
    channel: null,
    text: 'eggs',
  })),
);
const buildSplitRow = (id: string, timestamp: number, more: object = {}) =>
  queryRow.parse({ id, text: id, timestamp, ...more });

describe('splitQueries', () => {
  it('has the first 70 % of the conversations for dev; queries go with theirs, or by time', () => {
    const { queries, devConversations } = splitQueries(corpus, [
      buildSplitRow('home', 5000, { conversationId: 'c6' }),
      buildSplitRow('away', 5000, { conversationId: 'c7' }),
      buildSplitRow('anchored', 5000, { anchorTurnId: 'r3' }),
      buildSplitRow('early', 699),
      buildSplitRow('late', 701),
    ]);
    expect([...devConversations]).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6']);
    expect(queries.map(({ id, split, cluster }) => [id, split, cluster])).toEqual([
      ['home', 'dev', 'c6'],
      ['away', 'test', 'c7'],
      ['anchored', 'dev', 'c3'],
      ['early', 'dev', 'early'],
      ['late', 'test', 'late'],
    ]);
  });

  it('leaves the generator and the sources of a query behind: no scorer may read them', () => {
    const rows = [{}, { generator: 'ana', sources: ['r1'] }].map((more) => [buildSplitRow('q', 5000, more)]);
    const [bare, authored] = rows.map((one) => splitQueries(corpus, one).queries);
    expect(authored).toEqual(bare);
  });

  it('is that of the queries; learned parts exclude conversations of test queries', () => {
    const { queries, devConversations } = splitQueries(corpus, [
      buildSplitRow('t', 450, { split: 'test', conversationId: 'c2', cluster: 'mine' }),
      buildSplitRow('d', 5000, { split: 'dev', conversationId: 'c9' }),
    ]);
    expect([...devConversations]).toEqual(['c0', 'c1', 'c3', 'c4']);
    expect(queries).toEqual([
      {
        id: 't',
        text: 't',
        timestamp: 450,
        anchorTurnId: null,
        author: null,
        channel: null,
        split: 'test',
        cluster: 'mine',
      },
      {
        id: 'd',
        text: 'd',
        timestamp: 5000,
        anchorTurnId: null,
        author: null,
        channel: null,
        split: 'dev',
        cluster: 'c9',
      },
    ]);
  });
});
