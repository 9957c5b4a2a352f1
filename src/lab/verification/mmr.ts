import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { maximalMarginalRelevance } from '../../ops/selection/maximal-marginal-relevance.ts';
import { computeSimilarities } from '../../ops/selection/selection.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const mmrCase = z.looseObject({
  /** [C, D] */
  embeddings: z.array(z.array(z.number())),
  /** [C] */
  relevance: z.array(z.number()),
  k: z.number(),
  lambda: z.number(),
  expected: z.strictObject({ order: z.array(z.number()) }),
});

export const mmr: Topic = {
  name: 'mmr',
  async compute(golden: GoldenCase): Promise<readonly Part[]> {
    const { embeddings, relevance, k, lambda, expected } = parse(mmrCase, golden, golden.name);
    const { slots, scores } = scoped('verification.mmr', () => {
      const inputs = {
        relevance: tf.tensor2d([relevance]),
        similarities: computeSimilarities(tf.tensor3d([embeddings])),
        mask: tf.ones([1, relevance.length], 'bool') as tf.Tensor2D,
      };
      return maximalMarginalRelevance(inputs, { lambda, k });
    });
    try {
      const [got] = await slots.array();
      return [{ at: 'order', expected: expected.order, got, tolerance: HOST }];
    } finally {
      tf.dispose([slots, scores]);
    }
  },
};
