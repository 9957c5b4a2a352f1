import { describe, expect, test } from 'vitest';
import type { Query } from '../../model/dataset.ts';
import { drawConversations, sampleConversationQueries } from './conversation-sample.ts';

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
  /** How many queries each conversation has. */
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
