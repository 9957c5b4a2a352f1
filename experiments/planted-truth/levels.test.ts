import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { PLANTED_DEPENDENCIES } from '../../src/data/prepared/datasets.ts';
import { computePlantedLevels, drawPlantedConversations } from '../../src/data/synthetic/planted-conversations.ts';
import { buildPlantedDataset } from '../../src/data/synthetic/synthetic.ts';
import { experiment } from '../../src/lab/workbench/experiment.ts';
import { search } from '../../src/rank/retrieval/steps/functions.ts';
import { rankByOracle } from './measure.ts';

const CONVERSATIONS = 404;
const BRANCHING = 5;

beforeAll(async () => {
  await useBackend('cpu');
});

/** Distance of a mean from its expected value in standard errors. */
function countStandardErrors(values: readonly number[], expected: number): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return variance === 0
    ? mean === expected
      ? 0
      : Number.POSITIVE_INFINITY
    : Math.abs(mean - expected) / Math.sqrt(variance / values.length);
}

test('words alone are at chance among the turns on the topic, and put no other turn above them', async () => {
  const drawn = drawPlantedConversations({ conversations: CONVERSATIONS, wordNoise: 0 });
  const finished = await experiment({
    data: buildPlantedDataset(drawn),
    encoder: { encoder: 'lsa', dimension: 3 },
    arms: { bm25: [search({ bm25: { k: 31 } })] },
    metrics: ['mrr', 'recall@1'],
    evaluation: { split: 'all', samples: 100 },
  }).run({ progress: null });
  const ranking = finished.run('bm25');
  for (const { query, matched } of drawn.planted) {
    const first = ranking.get(query.id)?.slice(0, BRANCHING) ?? [];
    expect(new Set(first.map(({ id }) => id))).toEqual(new Set(matched));
    expect(new Set(first.map(({ score }) => score)).size).toBe(1);
  }
  const { queries, arms } = finished.result;
  const { chance } = computePlantedLevels(BRANCHING, 1);
  for (const dependency of PLANTED_DEPENDENCIES) {
    const select = (metric: string) =>
      (arms[0]?.perQuery[metric] ?? []).filter((_, q) => queries[q]?.kind === dependency);
    expect(select('mrr')).toHaveLength(CONVERSATIONS / 4);
    expect(countStandardErrors(select('mrr'), chance.mrr), dependency).toBeLessThan(4);
    expect(countStandardErrors(select('recall@1'), chance.first), dependency).toBeLessThan(4);
  }
});

test.each([0, 0.25, 0.5, 1])('an observer who knows the dependency reaches the ceiling: strength %d', (strength) => {
  const ranks = [...rankByOracle(drawPlantedConversations({ conversations: 1009, strength })).values()];
  const { ceiling } = computePlantedLevels(BRANCHING, strength);
  expect(countStandardErrors(ranks, ceiling.mrr)).toBeLessThan(4);
  const first = ranks.map((rank) => (rank === 1 ? 1 : 0));
  expect(countStandardErrors(first, ceiling.first)).toBeLessThan(4);
});
