import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { parse } from '../../core/validation/validation.ts';
import { computeRerankScores, type RerankedCandidate, rerankerOptions } from './rerankers.ts';

const DAY = 86_400_000;
const buildCandidate = (
  score: number,
  outcome: number | null,
  day: number,
  ...embedding: number[]
): RerankedCandidate => ({
  score,
  outcome,
  createdAt: day * DAY,
  embedding: Float32Array.from(embedding),
});
const CANDIDATES = [
  buildCandidate(0.9, 0, 10, 1, 0),
  buildCandidate(0.8, 1, 0, 1, 0),
  buildCandidate(0.5, null, 5, 0, 1),
];
const rerankBy = (options: object) =>
  computeRerankScores(CANDIDATES, parse(rerankerOptions, options, 'test'), 10 * DAY);

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each<[object, number[]]>([
    [{ method: 'outcome', alpha: 0.25 }, [0.9, 1, 0.5]],
    // The prior over both outcomes is .5: a failure and a success count as .25 and .75, nothing observed as .5.
    [{ method: 'outcome', alpha: 0.25, kappa: 1 }, [0.9 * (1 + 0.25 / 4), 0.8 * (1 + 0.75 / 4), 0.5 * (1 + 0.5 / 4)]],
    [{ method: 'outcome', alpha: 0.25, kappa: 1, pool: 'stats' }, [0.9, 0.8, 0.5]],
    [{ method: 'recency', lambda: 0.1 }, [0.9, 0.8 * Math.exp(-1), 0.5 * Math.exp(-0.5)]],
    // Taken: the first, .6 x .9; the third, .6 x .5; the second, .6 x .8 - .4 x 1.
    [{ method: 'mmr', lambda: 0.6 }, [0.54, 0.08, 0.3]],
    [
      {
        method: 'composite',
        of: [
          { weight: 0.5, reranker: { method: 'outcome', alpha: 0.25 } },
          { weight: 0.5, reranker: { method: 'mmr', lambda: 0.6 } },
        ],
      },
      [0.72, 0.54, 0.4],
    ],
  ])('%j', async (options, expected) => {
    for (const [i, score] of (await rerankBy(options)).entries()) expect(score).toBeCloseTo(expected[i] as number, 6);
  });
});

test('with a prior, many observations weigh more than one of the same mean', async () => {
  const stats = { count: 8, mean: 1, m2: 0, min: 1, max: 1 };
  const [failed, once, often] = [
    buildCandidate(1, 0, 0),
    buildCandidate(1, 1, 0),
    { ...buildCandidate(1, null, 0), stats },
  ];
  const rerank = (kappa: number) =>
    computeRerankScores([failed, once, often], { method: 'outcome', alpha: 1, pool: 'both', kappa }, 0);
  expect(await rerank(0)).toEqual([1, 2, 2]);
  const prior = 9 / 10; // over ten outcomes
  const expected = [(2 * prior) / 3, (2 * prior + 1) / 3, (2 * prior + 8) / 10];
  for (const [i, score] of (await rerank(2)).entries()) expect(score).toBeCloseTo(1 + (expected[i] as number), 12);
});

test('no candidates have no scores', async () => {
  expect(await computeRerankScores([], { method: 'mmr', lambda: 0.5 }, 0)).toEqual([]);
});

test('weights of a composite sum to 1', () => {
  const of = [{ weight: 0.5, reranker: { method: 'recency' } }];
  expect(() => parse(rerankerOptions, { method: 'composite', of }, 'test')).toThrow('weights that sum to 1');
});
