import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { measureDeviation } from './compare.ts';
import type { GoldenCase, Topic } from './topic.ts';
import { OWN_GOLDEN, readGolden, TOPICS } from './verify.ts';

/** How many cases each topic has, and of how many parts. */
const SIZES: Readonly<Record<string, { readonly cases: number; partsOf(golden: GoldenCase): number }>> = {
  attention: { cases: 26, partsOf: () => 2 },
  'long-ring': { cases: 7, partsOf: () => 3 },
  trajectory: { cases: 20, partsOf: ({ expected }) => ((expected as { distance: unknown }).distance === null ? 2 : 3) },
  conservation: { cases: 4, partsOf: () => 3 },
  'conservation-stream': { cases: 4, partsOf: () => 1 },
  'propagation-as-of': { cases: 24, partsOf: () => 5 },
  ppr: { cases: 4, partsOf: () => 6 },
  'graph-source': { cases: 4, partsOf: () => 4 },
  metrics: { cases: 3, partsOf: () => 1 },
  'depth-metrics': { cases: 6, partsOf: () => 1 },
  fusion: { cases: 5, partsOf: () => 1 },
  'rank-fusion': { cases: 24, partsOf: () => 1 },
  combination: { cases: 3, partsOf: () => 1 },
  bert: { cases: 2, partsOf: () => 1 },
  'late-interaction': { cases: 4, partsOf: () => 4 },
  mmr: { cases: 2, partsOf: () => 1 },
  outcomes: { cases: 4, partsOf: ({ expected }) => 2 * Object.keys(expected as object).length - 1 },
  priors: { cases: 5, partsOf: ({ expected }) => Object.keys(expected as object).length },
  slices: { cases: 4, partsOf: () => 6 },
  'slices-as-of': { cases: 4, partsOf: () => 1 },
  signatures: { cases: 25, partsOf: ({ expected }) => Object.keys(expected as object).length },
  signals: { cases: 8, partsOf: () => 1 },
  resampling: { cases: 14, partsOf: () => 3 },
  stats: { cases: 5, partsOf: ({ expected }) => Object.keys(expected as object).length },
};

const files = readGolden(OWN_GOLDEN);
const listTopicCases = ({ name }: Topic) => files.find(({ topic }) => topic === name)?.cases ?? [];
const named = TOPICS.map((topic) => [topic.name, topic] as const);

test.each(named)('%s has all its cases', (name, topic) => {
  expect(listTopicCases(topic)).toHaveLength(SIZES[name]?.cases ?? 0);
});

describe('golden cases are', () => {
  const collectCaseValues = (name: string, choose: (golden: GoldenCase) => unknown) =>
    new Set((files.find(({ topic }) => topic === name)?.cases ?? []).map(choose));
  const collectChoices = (name: string) =>
    collectCaseValues('long-ring', ({ options }) => (options as Record<string, unknown>)[name]);

  test('of every mechanism of attention', () => {
    expect(collectCaseValues('attention', ({ mechanism }) => mechanism)).toEqual(
      new Set([undefined, 'tpo', 'unified']),
    );
  });

  test('of every combination and direction on long rings and lines', () => {
    expect(collectChoices('combine')).toEqual(new Set(['multiplicative', 'additive']));
    expect(collectChoices('direction')).toEqual(new Set(['none', 'causal', 'anticausal']));
    expect(collectChoices('topology')).toEqual(new Set(['ring', 'line']));
  });

  test('of directed and undirected graphs, with dangling nodes and without', () => {
    expect(collectCaseValues('ppr', ({ directed }) => directed)).toEqual(new Set([true, false]));
    expect(collectCaseValues('ppr', ({ dangling }) => (dangling as number[]).length > 0)).toEqual(
      new Set([true, false]),
    );
  });
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  describe.each(named)('%s', (name, topic) => {
    test.each(listTopicCases(topic))('$name', async (golden) => {
      const before = tf.memory().numTensors;
      const parts = await topic.compute(golden, listTopicCases(topic));
      expect(parts.flatMap((part) => measureDeviation(part).failure ?? [])).toEqual([]);
      expect(parts).toHaveLength(SIZES[name]?.partsOf(golden) as number);
      expect(tf.memory().numTensors).toBe(before);
    });
  });
});
