import { expect, test } from 'vitest';
import type { Query } from '../../model/dataset.ts';
import {
  sampleRanking as arm,
  rankedCorpus as corpus,
  rankedQueries as queries,
} from '../../rank/retrieval/ranked-arm.fixture.ts';
import { listRankedComponents, listRankedPositions } from '../../rank/retrieval/retriever.ts';
import type { ArmRecord } from './arm-record.ts';
import { buildInspectedRankings } from './rankings.ts';

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
