import { describe, expect, test } from 'vitest';
import type { ArmOptions } from '../config/arm-options.ts';
import { resolveConfig } from '../config/config.ts';
import { findReachWarnings } from './reach-warnings.ts';

const fuse = (fusion: object | string) => [
  { search: { bm25: { k: 50 }, flat: { k: 50 }, graph: { k: 50 } } },
  { fuse: fusion },
];
/** Lexical, dense and graph lists in weighted reciprocal ranks with k = 60 and equal weights, as a published prototype fused them. */
const prototype = fuse({ rrf: { k: 60 } });

function findWarnings(arms: object, evaluation: object = { metrics: ['recall@10', 'mrr@10'] }) {
  const [baseline] = Object.keys(arms);
  const config = resolveConfig(
    {
      name: 'reach',
      dataset: { name: 'jsonl', path: '/nowhere' },
      embedding: { encoder: 'lsa', dimension: 13 },
      evaluation: { baseline, ...evaluation },
      arms,
    },
    'test',
  );
  return findReachWarnings(config.arms as readonly ArmOptions[], config.evaluation).map(({ code, system, message }) => [
    code,
    system,
    message,
  ]);
}

describe('an arm is reported', () => {
  test('where lists that agree fill the measured ranks: three lists of equal weight, k = 60', () => {
    expect(findWarnings({ prototype })).toEqual([
      [
        'unreachable-list',
        'prototype',
        'prototype: best rank of a turn that one list alone finds, if the other lists agree and if they share no turn: bm25 51 and 1, flat 51 and 1, graph 51 and 1; the metrics read the top 10, so raise the weights of these lists or lower k of rrf, now 60',
      ],
    ]);
  });

  test('with each list that is barred, and whether the others have to agree', () => {
    const [[, , message] = []] = findWarnings({ weak: fuse({ rrf: { bm25: 2, flat: 2, graph: 0.5 } }) });
    expect(message).toContain('if they share no turn: bm25 17 and 1, flat 17 and 1, graph 51 and 101; the metrics');
    const [[, , convex] = []] = findWarnings({ convex: fuse({ convex: { flat: 0.5, bm25: 0.3, graph: 0.2 } }) });
    expect(convex).toBe(
      'convex: best rank of a turn that one list alone finds, if the other lists agree and if they share no turn: graph 51 and 101; the metrics read the top 10, so raise the weights of these lists',
    );
  });

  test('once: not again for its null controls and repetitions', () => {
    const arms = { prototype, control: { from: 'prototype', control: { kind: 'random-parents' } } };
    expect(findWarnings(arms)).toHaveLength(1);
  });
});

describe('an arm is not reported', () => {
  test.each([
    ['a smaller k', { rrf: { k: 8 } }],
    ['a heavier graph, as the others reach by agreeing with it', { convex: { flat: 0.3, bm25: 0.2, graph: 0.5 } }],
  ])('where every list reaches the measured ranks: %s', (_, fusion) => {
    expect(findWarnings({ reachable: fuse(fusion) })).toEqual([]);
  });

  test('where the metrics, or without cutoffs the rankings, read deeper', () => {
    expect(findWarnings({ prototype }, { metrics: ['recall@10', 'recall@60'] })).toEqual([]);
    expect(findWarnings({ prototype }, { metrics: ['map'], depth: 100 })).toEqual([]);
    expect(findWarnings({ prototype }, { metrics: ['map'], depth: 40 })).toHaveLength(1);
  });

  test('with two lists of equal weight', () => {
    expect(findWarnings({ hybrid: fuse({ rrf: { bm25: 1, flat: 1 } }) })).toEqual([]);
  });
});
