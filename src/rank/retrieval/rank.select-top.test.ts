import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import type { Workspace } from '../signals/workspace.ts';
import { parseArm, poolOfArm } from './arms.fixture.ts';
import { findPool } from './candidate-sources.ts';
import { selectTop } from './rank.ts';
import { retrieve } from './retriever.ts';
import type { RankOptions } from './written-steps.ts';

const world = drawSampleWorld(17, 103, 67); // more queries than a batch holds
const ARM = { search: { bm25: { k: 19 }, newest: { k: 7 } }, fuse: { only: 'bm25' } };

const cosines = new Map<string, number>();

function cosine(a: string, b: string): number {
  const pair = `${a} ${b}`;
  const known = cosines.get(pair);
  if (known !== undefined) return known;
  const [u, v] = [world.vectorOf.get(a), world.vectorOf.get(b)] as [Float32Array, Float32Array];
  const product = u.reduce((sum, value, i) => sum + value * (v[i] as number), 0);
  const value = product === 0 ? 0 : product / Math.hypot(...u) / Math.hypot(...v);
  cosines.set(pair, value);
  return value;
}

/** Each query's ranking by the tie rule. */
async function listRankings(workspace: Workspace, options: RankOptions): Promise<{ id: string; score: number }[][]> {
  const { pool, scores } = await retrieve(workspace, options);
  return world.queries.map((_, query) => {
    const pairs = Array.from({ length: pool.width }, (_, slot) => query * pool.width + slot);
    return pairs
      .filter((pair) => (pool.positions[pair] as number) >= 0)
      .map((pair) => ({
        id: workspace.corpus.turns[pool.positions[pair] as number]?.id as string,
        score: scores[pair] as number,
      }))
      .sort(compareScored);
  });
}

type Take = (scores: number[], ids: string[], taken: number[]) => number;

/** Greedy selection of some of the first k, then what it left, then the rest. */
function selectGreedily(ranking: readonly { id: string; score: number }[], k: number, next: Take): string[] {
  const ids = ranking.map(({ id }) => id);
  const most = ranking[0]?.score ?? 0;
  const relevance = ranking.slice(0, k).map(({ score }) => (most > 0 ? score / most : 0));
  const taken: number[] = [];
  for (let slot = next(relevance, ids, taken); slot >= 0; slot = next(relevance, ids, taken)) taken.push(slot);
  return [...taken.map((slot) => ids[slot] as string), ...ids.filter((_, slot) => !taken.includes(slot))];
}

const measureRedundancy = (ids: string[], slot: number, taken: number[]) =>
  Math.max(...taken.map((other) => cosine(ids[slot] as string, ids[other] as string)));

const createMarginalTake =
  (lambda: number): Take =>
  (scores, ids, taken) => {
    let [best, most] = [-1, Number.NEGATIVE_INFINITY];
    for (const [slot, score] of scores.entries()) {
      if (taken.includes(slot)) continue;
      const marginal = lambda * score - (taken.length === 0 ? 0 : (1 - lambda) * measureRedundancy(ids, slot, taken));
      if (marginal > most) [best, most] = [slot, marginal];
    }
    return best;
  };

const filter: Take = (scores, ids, taken) =>
  scores.findIndex((score, slot) => {
    if (slot <= (taken.at(-1) ?? -1)) return false;
    return taken.length === 0 || 0.7 * score - 0.3 * measureRedundancy(ids, slot, taken) > 0.3 || score > 0.9;
  });

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  let workspace: Workspace;
  let before = 0;
  beforeAll(async () => {
    await useBackend(backend);
    before = tf.memory().numTensors;
    workspace = createSampleWorkspace(world);
  });
  afterAll(() => {
    workspace.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  test.each([
    ['mmr', { mmr: { k: 11, lambda: 0.5 } }, 11, createMarginalTake(0.5)],
    ['mmr of all candidates, by default', 'mmr', 50, createMarginalTake(0.7)],
    ['mmr that wants what is new alone', { mmr: { k: 5, lambda: 0 } }, 5, createMarginalTake(0)],
    ['diversity filter', { 'diversity-filter': { k: 13 } }, 13, filter],
  ] as const)('%s reorders the top and leaves what is below', async (_, select, k, take) => {
    const plain = parseArm(ARM);
    const options = parseArm({ ...ARM, select });
    const old = await listRankings(workspace, plain);
    const got = await listRankings(workspace, options);
    let moved = 0;
    for (const [query, ranking] of old.entries()) {
      const ids = got[query]?.map(({ id }) => id);
      expect(ids).toEqual(selectGreedily(ranking, k, take));
      expect(ids?.slice(k)).toEqual(ranking.slice(k).map(({ id }) => id));
      expect(got[query]?.map(({ score }) => score)).toEqual(ranking.map((_, slot) => ranking.length - slot));
      if (ids?.join() !== ranking.map(({ id }) => id).join()) moved++;
    }
    expect(moved).toBeGreaterThan(world.queries.length / 2);
  });

  test('relevance alone changes nothing, ties included', async () => {
    const select = { mmr: { lambda: 1 } };
    const old = await listRankings(workspace, parseArm(ARM));
    const got = await listRankings(workspace, parseArm({ ...ARM, select }));
    expect(got.map((row) => row.map(({ id }) => id))).toEqual(old.map((row) => row.map(({ id }) => id)));
    expect(old.some((row) => new Set(row.map(({ score }) => score)).size < row.length)).toBe(true);
  });

  test('a score that is not a number is reported with its query and turn, and nothing leaks', async () => {
    const pool = await findPool(workspace, null, poolOfArm(parseArm(ARM)));
    const kept = tf.memory().numTensors;
    const scores = new Float32Array(pool.positions.length).fill(Number.NaN);
    const options = { method: 'mmr', k: 3, lambda: 0.7 } as const;
    await expect(selectTop(workspace, pool, scores, options)).rejects.toThrow(
      /^score is not finite at query q\d+, turn \S+: NaN; /,
    );
    await expect(selectTop(workspace, pool, scores.fill(1), { ...options, lambda: 2 })).rejects.toThrow(
      'lambda is outside [0, 1]: 2',
    );
    expect(tf.memory().numTensors).toBe(kept);
  });

  test('scores of 0 throughout keep the order of the tie rule where nothing else decides', async () => {
    const pool = await findPool(workspace, null, poolOfArm(parseArm(ARM)));
    const options = { method: 'mmr', k: 7, lambda: 1 } as const;
    const order = await selectTop(workspace, pool, new Float32Array(pool.positions.length), options);
    const last = world.queries.length - 1;
    const row = order.subarray(last * pool.width, (last + 1) * pool.width).filter((score) => score > 0);
    expect([...row]).toEqual(Array.from(row, (_, slot) => row.length - slot)); // the pool has this order
  });
});
