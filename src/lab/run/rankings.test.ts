import { expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { parseSteps } from '../../rank/retrieval/written-steps.ts';
import { createSampleWorkspace, drawSampleWorld } from '../../rank/signals/corpus.fixture.ts';
import type { ArmRecord } from './arm-record.ts';
import {
  type ArmRanking,
  buildInspectedRankings,
  buildRun,
  listRankedComponents,
  listRankedPositions,
  rankArm,
} from './rankings.ts';

/** Two queries, three candidates at most, the two best kept; the second query has one candidate alone. */
const arm: ArmRanking = {
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

test('places of the pool become positions of the corpus with their scores', () => {
  expect(listRankedPositions(arm)).toEqual({
    depth: 2,
    positions: Int32Array.of(2, 1, 3, -1),
    scores: Float32Array.of(0.75, 0.5, -2, 0),
  });
});

test('the parts of the first ranks stand place by place, nothing where there is no candidate', () => {
  const componentNames = ['hnsw', 'decay'];
  const all = Float32Array.of(17, 31, 13, 29, 19, 37, 0, 0);
  expect(listRankedComponents(arm, 7)).toEqual({ componentNames, components: all, inspected: 2 });
  const first = Float32Array.of(17, 31, 19, 37);
  expect(listRankedComponents(arm, 1)).toEqual({ componentNames, components: first, inspected: 1 });
});

const corpus = new Corpus(
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
const queries = ['q0', 'q1'].map((id): Query => {
  const nobody = { anchorTurnId: null, author: null, channel: null };
  return { id, text: id, timestamp: 9, ...nobody, split: 'test', cluster: 'x' };
});

test('rankings have ids', () => {
  expect([...buildRun(corpus, queries, listRankedPositions(arm))]).toEqual([
    [
      'q0',
      [
        { id: 'c', score: 0.75 },
        { id: 'b', score: 0.5 },
      ],
    ],
    ['q1', [{ id: 'd', score: -2 }]],
  ]);
});

test('those of some queries, in their order, are shown as far as their parts are known', () => {
  const record = { ...listRankedPositions(arm), ...listRankedComponents(arm, 1) } as ArmRecord;
  const inspected = {
    contributionNames: ['relevance'],
    contributions: Float32Array.of(3, 7),
    coordinateNames: ['depth', 'temporal'],
    coordinates: Float32Array.of(1, 2, 3, 5, 13, 17, 19, 23),
  };
  const [first, second] = queries as [Query, Query];
  expect(buildInspectedRankings(corpus, queries, { ...record, ...inspected }, [second, first])).toEqual([
    [{ id: 'd', score: -2, components: [19, 37], contributions: [7], coordinates: [13, 17, 19, 23] }],
    [{ id: 'c', score: 0.75, components: [17, 31], contributions: [3], coordinates: [1, 2, 3, 5] }],
  ]);
  const whole = { ...record, ...listRankedComponents(arm, 2) };
  expect(buildInspectedRankings(corpus, queries, whole, [second])).toEqual([
    [{ id: 'd', score: -2, components: [19, 37], contributions: [], coordinates: [] }],
  ]);
  expect(buildInspectedRankings(corpus, queries, whole, [first])[0]?.map(({ components }) => components)).toEqual([
    [17, 31],
    [13, 29],
  ]);
});

test('a score that is no number is reported with the arm, the query and the turn', async () => {
  await useBackend('wasm');
  const world = drawSampleWorld(7, 53, 5, 3);
  const workspace = createSampleWorkspace(world);
  const options = parseSteps([{ search: { bm25: { k: 11, variant: 'bm25l', k1: 1.7e308 } } }]);
  try {
    const error = await rankArm(workspace, { ...options, name: 'too much' }, 5).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(NotFiniteError);
    expect((error as Error).message).toMatch(/at arm too much, query q\d+, turn (é|t)\d+: (NaN|Infinity); /);
  } finally {
    workspace.dispose();
  }
});
