import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { sumsToOne } from '../../core/validation/validation.ts';
import type { OutcomeStatistics } from '../../model/turns/turn.ts';
import { maximalMarginalRelevance } from '../../ops/selection/maximal-marginal-relevance.ts';
import { computeSimilarities } from '../../ops/selection/selection.ts';
import { computeObservedMean, listObserved, outcomePool } from '../outcomes/outcome-statistics.ts';
import { computePriors } from '../outcomes/prior-bundle.ts';

const outcome = z.strictObject({
  method: z.literal('outcome'),
  /** The factor of the outcome, from 0. */
  alpha: z.number().min(0).default(0.5),
  /** Whose mean the outcome of a candidate is: its outcome, later observations, or both. */
  pool: outcomePool.default('both'),
  /** The count of observations that weigh as much as the prior over all candidates; 0: no prior. */
  kappa: z.number().min(0).default(0),
});

const recency = z.strictObject({
  method: z.literal('recency'),
  /** The rate of decay for each day of age, from 0. */
  lambda: z.number().min(0).default(0.01),
});

const mmr = z.strictObject({
  method: z.literal('mmr'),
  /** Weight of relevance against novelty. */
  lambda: z.number().min(0).max(1).default(0.7),
});

const single = z.discriminatedUnion('method', [outcome, recency, mmr]);

const composite = z.strictObject({
  method: z.literal('composite'),
  /** The rerankers that are combined; their weights sum to 1. */
  of: z
    .array(z.strictObject({ weight: z.number().min(0), reranker: single }))
    .min(1)
    .refine(
      (parts) =>
        sumsToOne(
          parts.map(({ weight }) => weight),
          0.01,
        ),
      'weights that sum to 1',
    ),
});

/** The rerankers, which give the candidates of a query their final order. */
export const rerankerOptions = z.discriminatedUnion('method', [outcome, recency, mmr, composite]);
/** The options of one reranker, with every default written out. */
export type RerankerOptions = z.output<typeof rerankerOptions>;
/** The options of a reranker that is no combination. */
type SingleRerankerOptions = z.output<typeof single>;

/** The parts of a candidate that a reranker reads. */
export interface RerankedCandidate {
  readonly score: number;
  /** null: not known. */
  readonly outcome: number | null;
  /** Outcomes that were observed later; absent: none. */
  readonly stats?: OutcomeStatistics;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** [D] */
  readonly embedding: Float32Array;
}

const DAY = 24 * 60 * 60 * 1000;

/** Marginal relevance of each candidate when it was taken, all of them taken one after the other. */
async function computeMarginalScores(candidates: readonly RerankedCandidate[], lambda: number): Promise<number[]> {
  const count = candidates.length;
  const dimension = (candidates[0] as RerankedCandidate).embedding.length;
  const embeddings = new Float32Array(count * dimension);
  for (const [i, { embedding }] of candidates.entries()) {
    if (embedding.length !== dimension)
      throw new DimensionMismatchError(`embedding of candidate ${i}`, dimension, embedding.length);
    embeddings.set(embedding, i * dimension);
  }
  const taken = await readBack('rerankByMarginalRelevance', () => {
    const relevance = tf.tensor2d(
      candidates.map(({ score }) => score),
      [1, count],
    );
    const similarities = computeSimilarities(tf.tensor3d(embeddings, [1, count, dimension]));
    const mask = tf.ones([1, count], 'bool') as tf.Tensor2D;
    const { slots, scores } = maximalMarginalRelevance({ relevance, similarities, mask }, { lambda, k: count });
    return tf.concat([tf.cast(slots, 'float32'), scores], 0); // [2, C]
  });
  const marginal = new Array<number>(count).fill(0);
  for (let i = 0; i < count; i++) marginal[taken[i] as number] = taken[count + i] as number;
  return marginal;
}

/**
 * The outcome of each candidate: the mean of its n observations, null without one. With kappa above 0 and the mean m of
 * the prior over all candidates: (kappa m + n mean) / (kappa + n), which is m without an observation.
 */
function listOutcomes(
  candidates: readonly RerankedCandidate[],
  { pool, kappa }: z.output<typeof outcome>,
): (number | null)[] {
  const means = candidates.map((candidate) => computeObservedMean(candidate, pool));
  const prior = kappa === 0 ? null : computePriors(candidates, null, { pool, range: 'none' }).mean;
  if (prior === null) return means;
  return candidates.map((candidate, i) => {
    const count = listObserved(candidate, pool).reduce((sum, observed) => sum + observed.count, 0);
    return (kappa * prior + count * (means[i] ?? 0)) / (kappa + count);
  });
}

async function rerankBySingle(
  candidates: readonly RerankedCandidate[],
  options: SingleRerankerOptions,
  asOf: number,
): Promise<number[]> {
  switch (options.method) {
    case 'outcome': {
      const outcomes = listOutcomes(candidates, options);
      return candidates.map(({ score }, i) => score * (1 + options.alpha * (outcomes[i] ?? 0)));
    }
    case 'recency':
      return candidates.map(({ score, createdAt }) => score * Math.exp((-options.lambda * (asOf - createdAt)) / DAY));
    case 'mmr':
      return computeMarginalScores(candidates, options.lambda);
  }
}

/**
 * New scores of the candidates of a query, in their order: score (1 + alpha mean outcome), score exp(-lambda age in
 * days), marginal relevance with cosines, or the weighted sum of these. A candidate without an observation that
 * counts keeps its score where outcomes count, or has the outcome of the prior if kappa is above 0.
 *
 * @param candidates in the order of their scores, by the tie rule.
 * @param asOf milliseconds since 1970, from which age counts.
 * @returns [C]
 * @throws DimensionMismatchError for embeddings of different lengths, where similarities count.
 */
export async function computeRerankScores(
  candidates: readonly RerankedCandidate[],
  options: RerankerOptions,
  asOf: number,
): Promise<number[]> {
  if (candidates.length === 0) return [];
  if (options.method !== 'composite') return rerankBySingle(candidates, options, asOf);
  const sums = new Array<number>(candidates.length).fill(0);
  for (const { weight, reranker } of options.of)
    for (const [i, score] of (await rerankBySingle(candidates, reranker, asOf)).entries()) sums[i]! += weight * score;
  return sums;
}
