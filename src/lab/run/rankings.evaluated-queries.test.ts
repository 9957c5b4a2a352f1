import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { TASK_WITHOUT_QUERIES } from '../../data/prepared/datasets.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { assertSplitSize, drawConversations, sampleConversationQueries, splitDev } from './rankings.ts';

const labels = Array.from({ length: 173 }, (_, i) => `c${i % 61}`);

test('samples have their size, and each is within the next, up to all conversations', () => {
  const samples = [1 / 8, 1 / 4, 1 / 2, 1].map((share) => drawConversations(labels, share, 3));
  expect(samples.map(({ size }) => size)).toEqual([8, 16, 31, 61]); // ⌈61 / 8⌉, ⌈61 / 4⌉, ⌈61 / 2⌉
  for (const [i, larger] of samples.slice(1).entries())
    for (const conversation of samples[i] as ReadonlySet<string>) expect(larger.has(conversation)).toBe(true);
});

test('a sample depends on the seed alone', () => {
  const sample = drawConversations(labels, 0.3, 3);
  expect(drawConversations(labels, 0.3, 3)).toEqual(sample);
  expect([...drawConversations(labels, 0.3, 5)].sort()).not.toEqual([...sample].sort());
  expect(drawConversations(['x', 'x'], 1e-9, 3)).toEqual(new Set(['x']));
});

describe('a limited number of queries', () => {
  /** Queries of conversations of the given sizes, one after the other. */
  function buildSizedQueries(sizes: readonly number[]): Query[] {
    const common = { text: '', anchorTurnId: null, author: null, channel: null, split: 'dev' } as const;
    return sizes.flatMap((size, conversation) =>
      Array.from({ length: size }, (_, i) => {
        const cluster = `c${conversation}`;
        return { ...common, id: `${cluster}-${i}`, cluster, timestamp: 1000 * conversation + i };
      }),
    );
  }
  /** The number of queries of each conversation. */
  const countConversationQueries = (queries: readonly Query[]) =>
    queries.reduce(
      (sizes, { cluster }) => sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1),
      new Map<string, number>(),
    );
  const logs = buildSizedQueries(Array.from({ length: 24 }, (_, log) => 130 + 12 * log));
  const threads = buildSizedQueries(Array.from({ length: 101 }, (_, thread) => 1 + (thread % 3)));

  test('of long conversations is a part of each of twenty', () => {
    const kept = sampleConversationQueries(logs, 300, 3);
    expect(kept).toHaveLength(300);
    expect([...countConversationQueries(kept).values()]).toEqual(Array(20).fill(15));
  });

  test.each([21, 57, 79])('of %s comes from at least twenty conversations', (limit) => {
    expect(countConversationQueries(sampleConversationQueries(logs, limit, 3)).size).toBeGreaterThanOrEqual(20);
  });

  test('of short ones is whole conversations, but for the last', () => {
    const [kept, all] = [sampleConversationQueries(threads, 61, 3), countConversationQueries(threads)];
    expect(kept).toHaveLength(61);
    const cut = [...countConversationQueries(kept)].filter(([cluster, count]) => count < (all.get(cluster) as number));
    expect(cut.length).toBeLessThanOrEqual(1);
    expect(countConversationQueries(kept).size).toBeGreaterThan(20);
  });

  test('is reached by further rounds where there are few conversations', () => {
    const kept = sampleConversationQueries(buildSizedQueries([3, 50, 70]), 40, 3);
    const [few = 0, ...many] = [...countConversationQueries(kept).values()];
    expect([few, kept.length]).toEqual([3, 40]);
    expect(Math.abs((many[0] as number) - (many[1] as number))).toBeLessThanOrEqual(2); // 40 / 20 a round
  });

  test('depends on the seed alone, and keeps the order of all', () => {
    const listLimitedIds = (seed: number) => sampleConversationQueries(logs, 57, seed).map(({ id }) => id);
    expect(listLimitedIds(3)).toEqual(listLimitedIds(3));
    expect(listLimitedIds(3)).not.toEqual(listLimitedIds(5));
    const kept = new Set(listLimitedIds(3));
    expect(listLimitedIds(3)).toEqual(logs.filter(({ id }) => kept.has(id)).map(({ id }) => id));
  });

  test.each([null, 203, 1000])('is all of 203 where the limit is %s', (limit) => {
    const queries = buildSizedQueries([100, 103]);
    expect(sampleConversationQueries(queries, limit, 3)).toBe(queries);
  });
});

const conversations = ['e', 'a', 'd', 'b', 'c']; // in time order
const turns = conversations.map((id, time) => ({
  id: `${id}1`,
  conversationId: id,
  parentId: null,
  timestamp: time,
  author: null,
  channel: null,
  text: id,
}));
const buildDevQuery = (cluster: string, split: Query['split'] = 'dev'): Query => ({
  id: `q-${cluster}`,
  text: cluster,
  timestamp: 9,
  anchorTurnId: null,
  author: null,
  channel: null,
  split,
  cluster,
});
const buildDevDataset = (queries: Query[]): Dataset => ({
  name: 'five',
  declaration: { task: '', features: [], licence: '' },
  corpus: new Corpus(turns),
  queries,
  qrels: new Map(),
  relevantGrade: 1,
  gradeNames: {},
  devConversations: new Set(['e', 'a', 'd', 'b']),
  facts: {},
  hash: '',
});

test('the latest dev conversations are tuned on, the earlier ones fitted on, and test stays out of both', () => {
  const { fit, tuning } = splitDev(
    buildDevDataset([buildDevQuery('e'), buildDevQuery('b'), buildDevQuery('d'), buildDevQuery('c', 'test')]),
    0.5,
  );
  expect([...fit]).toEqual(['e', 'a']);
  expect(tuning.map(({ cluster }) => cluster)).toEqual(['b', 'd']);
});

test('nothing left to tune on is an error', () => {
  expect(() => splitDev(buildDevDataset([buildDevQuery('e'), buildDevQuery('c', 'test')]), 0.25)).toThrow(
    ValidationError,
  );
  expect(() => splitDev(buildDevDataset([buildDevQuery('e')]), 0.25)).toThrow(/the last 0.25 of 4 dev conversations/);
});

test('where queries are resampled by something wider than a conversation, those of fitted conversations are still not tuned on', () => {
  const buildLogQuery = (turnId: string): Query => ({ ...buildDevQuery('log'), id: `q-${turnId}`, turnId });
  const buildAskedQuery = (conversationId: string): Query => ({
    ...buildDevQuery('log'),
    id: `a-${conversationId}`,
    conversationId,
  });
  const buildAnchoredQuery = (anchorTurnId: string): Query => ({
    ...buildDevQuery('log'),
    id: `n-${anchorTurnId}`,
    anchorTurnId,
  });
  const queries = [
    buildLogQuery('e1'),
    buildLogQuery('b1'),
    buildAskedQuery('a'),
    buildAskedQuery('d'),
    buildAnchoredQuery('a1'),
    buildAnchoredQuery('b1'),
  ];
  expect(splitDev(buildDevDataset(queries), 0.5).tuning.map(({ id }) => id)).toEqual(['q-b1', 'a-d', 'n-b1']);
});

function buildSplitDataset(dev: number, test: number, task = 't'): Dataset {
  const splits: Query['split'][] = [...Array<'dev'>(dev).fill('dev'), ...Array<'test'>(test).fill('test')];
  const queries = splits.map((split, i) => ({
    id: `q${i}`,
    text: 'eggs',
    timestamp: i,
    anchorTurnId: null,
    author: null,
    channel: null,
    split,
    cluster: 'c',
  }));
  return {
    name: 'mail-threads',
    declaration: { task, features: ['text'], licence: 'l' },
    corpus: new Corpus([]),
    queries,
    qrels: new Map(),
    relevantGrade: 1,
    gradeNames: {},
    devConversations: new Set(),
    facts: {},
    hash: '',
  };
}

test.each([
  [1, 2, 'test'],
  [2, 0, 'dev'],
  [1, 1, 'all'],
] as const)('%i and %i queries will do for split %s', (dev, test, split) => {
  expect(() => assertSplitSize(buildSplitDataset(dev, test), split)).not.toThrow();
});

test.each([
  [
    3,
    1,
    'test',
    'dataset mail-threads has one query in split test, fewer than 2 (dev holds 3); set evaluation.split: all, or add conversations',
  ],
  [
    3,
    0,
    'test',
    'dataset mail-threads has no query in split test, fewer than 2 (dev holds 3); set evaluation.split: all, or add conversations',
  ],
  [
    1,
    1,
    'dev',
    'dataset mail-threads has one query in split dev, fewer than 2 (test holds 1); set evaluation.split: all, or add conversations',
  ],
  [0, 1, 'test', 'dataset mail-threads has one query in split test, fewer than 2 (dev holds 0); add conversations'],
  [1, 0, 'all', 'dataset mail-threads has one query in dev and test together, fewer than 2; add conversations'],
] as const)('%i and %i queries are refused for split %s', (dev, test, split, message) => {
  expect(() => assertSplitSize(buildSplitDataset(dev, test), split)).toThrow(
    expect.objectContaining({ name: 'ValidationError', message }),
  );
});

test('a dataset that was loaded to be searched is refused with its option', () => {
  const dataset = buildSplitDataset(0, 0, TASK_WITHOUT_QUERIES);
  expect(() => assertSplitSize(dataset, 'test')).toThrow(
    /^dataset mail-threads has no query in split test, .+; set the option queries of the dataset to another value than none$/,
  );
});
