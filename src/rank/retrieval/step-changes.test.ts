import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { buildRun, listRankedPositions, rankArm } from './retriever.ts';
import { runUnwatched } from './steps/step.ts';
import { parseSteps, type WrittenStep } from './written-steps.ts';

beforeAll(() => useBackend('wasm'));

const DEPTH = 13;
const world = drawSampleWorld(11, 211, 29, 5);
const corpus = new Corpus(world.turns);
const search = { bm25: { k: 19 }, flat: { k: 17 } };

async function rankSteps(list: readonly WrittenStep[], counts = true) {
  const workspace = createSampleWorkspace(world);
  const arm = { ...parseSteps(list), name: 'sample' };
  const ranked = await rankArm(workspace, arm, DEPTH, runUnwatched, counts);
  const run = buildRun(workspace.corpus, workspace.queries, listRankedPositions(ranked));
  workspace.dispose();
  const changes = Object.fromEntries((ranked.changes ?? []).map(({ step, queries }) => [step, queries]));
  return { run, changes, pool: ranked.retrieved.pool };
}

/** The ids of each query's first ranks, by arms that are ranked apart. */
const listIds = async (list: readonly WrittenStep[]) =>
  [...(await rankSteps(list, false)).run.values()].map((ranking) => ranking.map(({ id }) => id).join());

const countDiffering = (a: readonly string[], b: readonly string[]) => a.filter((ids, q) => ids !== b[q]).length;

describe('the number of queries that a step changes', () => {
  const fuse = { fuse: { convex: { flat: 0.6, bm25: 'rest' } } };
  const steps: readonly WrittenStep[] = [
    { search },
    fuse,
    { decay: 24 },
    { boost: [{ attribute: 'outcome', factor: 0.5 }] },
    { blend: { trajectory: 0.1, rcp: 0.2 } },
    { decay: 480, as: 'slow' },
    { select: { mmr: { k: 5, lambda: 0.3 } } },
    { pack: 60 },
  ];

  test('is that of the queries whose rankings differ where the arm ends before the step and after it', async () => {
    const { changes } = await rankSteps(steps);
    const blended = [{ blend: { trajectory: 0.1 } }, ...steps.slice(5)] as const;
    const ends = [
      ...[2, 3, 4].map((count) => steps.slice(0, count)),
      [...steps.slice(0, 4), blended[0]],
      ...[5, 6, 7, 8].map((count) => steps.slice(0, count)),
    ];
    const ids: string[][] = [];
    for (const end of ends) ids.push(await listIds(end));
    const names = ['decay', 'boost', 'blend.trajectory', 'blend.rcp', 'slow', 'select', 'pack'];
    const expected = names.map((name, i) => [name, countDiffering(ids[i] as string[], ids[i + 1] as string[])]);
    expect(changes).toMatchObject(Object.fromEntries(expected));
    expect(Object.keys(changes)).toEqual(['search.bm25', 'search.flat', 'fuse', ...names]);
    expect(expected.every(([, count]) => (count as number) > 0)).toBe(true);
  });

  test('is of a fusion that of the queries which no column alone ranks alike', async () => {
    const { changes } = await rankSteps([{ search }, fuse]);
    const fused = await listIds([{ search }, fuse]);
    const alone = [
      await listIds([{ search }, { fuse: { only: 'bm25' } }]),
      await listIds([{ search }, { fuse: { only: 'flat' } }]),
    ];
    expect(changes.fuse).toBe(fused.filter((ids, q) => alone.every((one) => one[q] !== ids)).length);
    expect((await rankSteps([{ search }, { fuse: { convex: { flat: 1, bm25: 0 } } }])).changes.fuse).toBe(0);
  });

  test('is 0 for steps without an effect', async () => {
    const idle: readonly WrittenStep[] = [
      { filter: 'timestamp <= $query.timestamp' },
      ...steps.slice(0, 2),
      { boost: [{ attribute: 'none', factor: 3 }] },
      { pack: 1_000_000 },
    ];
    const { changes, pool } = await rankSteps([...idle, { select: { mmr: { k: 1 } } }]);
    expect(pool.width).toBeGreaterThan(DEPTH);
    expect(changes).toMatchObject({ filter: 0, boost: 0, pack: 0, select: 0 });
  });

  test('is of a filter that of the queries with an earlier turn, or a found one, which it refuses', async () => {
    const where = "channel = 'kitchen'";
    const isRefused = ({ channel }: { readonly channel: string | null }) => channel !== 'kitchen';
    const before = await rankSteps([{ filter: where }, { search: { bm25: { k: 19 } } }]);
    const earlier = world.queries.map(({ timestamp }) => corpus.turns.slice(0, corpus.countEarlierTurns(timestamp)));
    expect(before.changes).toEqual({ filter: earlier.filter((turns) => turns.some(isRefused)).length });
    const after = await rankSteps([{ search: { bm25: { k: 19 } } }, { filter: where }]);
    const found = await rankSteps([{ search: { bm25: { k: 19 } } }]);
    const refused = world.queries.filter((_, q) => {
      const row = found.pool.positions.subarray(q * found.pool.width, (q + 1) * found.pool.width);
      return [...row].some((position) => position >= 0 && isRefused(corpus.turns[position]!));
    });
    expect(after.changes).toEqual({ filter: refused.length });
  });

  test('is of propagation that of the queries with a mixed candidate, of a column that of those it tells apart', async () => {
    const { changes } = await rankSteps([
      { propagate: 'framework' },
      { search },
      { score: { cosine: {}, strategy: {} } },
      { fuse: { 'pool-rrf': { cosine: 1, bm25: 1 } } },
    ]);
    expect(changes.propagate).toBeGreaterThan(world.queries.length / 2);
    expect(changes['score.cosine']).toBeGreaterThan(world.queries.length / 2);
    // No later step reads this column.
    expect(changes['score.strategy']).toBe(0);
  });
});

test('counting changes no ranking, leaves no tensor, and gives the same counts again', async () => {
  const steps = [{ search }, { fuse: 'rrf' }, { decay: 24 }, { select: { mmr: { k: 5 } } }];
  const before = tf.memory().numTensors;
  const counted = await rankSteps(steps);
  expect(counted.run).toEqual((await rankSteps(steps, false)).run);
  expect((await rankSteps(steps)).changes).toEqual(counted.changes);
  expect(tf.memory().numTensors).toBe(before);
});

test('a step of a list may have a reason beside it, which no ranking depends on', async () => {
  const reason = 'every text fits';
  const list = [{ search: { bm25: { k: 19 } } }, { pack: 1_000_000, unchanged: reason }];
  expect(parseSteps(list).unchanged).toEqual({ pack: reason });
  expect((await rankSteps(list)).changes).toEqual({ pack: 0 });
  expect(() => parseSteps([{ search: { bm25: {} } }, { pack: 9, unchanged: ' ' }])).toThrow('unchanged.pack');
});
