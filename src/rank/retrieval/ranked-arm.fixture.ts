import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { ArmRanking } from './retriever.ts';

/** Two queries, three candidates at most, the two best kept; the second query has one candidate alone. */
export const sampleRanking: ArmRanking = {
  retrieved: {
    pool: {
      stage: { name: 'pool', key: 'k', inputs: [], isKept: true },
      queryCount: 2,
      width: 3,
      positions: Int32Array.of(4, 1, 2, 3, -1, -1),
    },
    scores: Float32Array.of(0.25, 0.5, 0.75, -2, 0, 0),
    components: new Map([
      ['hnsw', Float32Array.of(11, 13, 17, 19, 0, 0)],
      ['decay', Float32Array.of(23, 29, 31, 37, 0, 0)],
    ]),
  },
  ranking: { depth: 2, slots: Int32Array.of(2, 1, 0, -1), scores: Float32Array.of(0.75, 0.5, -2, 0) },
};

/** Whose positions they are. */
export const rankedCorpus = new Corpus(
  ['a', 'b', 'c', 'd', 'e'].map((id, time) => ({
    id,
    conversationId: 'x',
    parentId: null,
    timestamp: time,
    author: null,
    channel: null,
    text: id,
  })),
);
/** Two queries of one moment. */
export const rankedQueries = ['q0', 'q1'].map((id): Query => {
  const nobody = { anchorTurnId: null, author: null, channel: null };
  return { id, text: id, timestamp: 9, ...nobody, split: 'test', cluster: 'x' };
});
