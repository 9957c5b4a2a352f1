import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import {
  clusteredTInterval,
  clusteredTTest,
  computeBootstrapIntervals,
  estimateClusteredMean,
  groupIntoClusters,
} from '../../eval/intervals/mean-intervals.ts';
import { signFlipPermutation } from '../../eval/significance/sign-flip-permutation.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const interval = z.tuple([z.number(), z.number()]);
const resamplingCase = z.looseObject({
  values: z.array(z.number()),
  labels: z.array(z.string()),
  seed: z.int(),
  samples: z.int(),
  level: z.number(),
  expected: z.strictObject({
    clustered: z.strictObject({ mean: z.number(), error: z.number(), p: z.number(), interval }),
    signFlip: z.strictObject({ p: z.number(), exact: z.boolean() }),
    bca: z.strictObject({ mean: z.number(), interval }),
  }),
});

/** Errors, tests and intervals of clustered values; those that are drawn, from the same seed to the same draws. */
export const resampling: Topic = {
  name: 'resampling',
  compute(input: GoldenCase): readonly Part[] {
    const { values, labels, seed, samples, level, expected } = parse(resamplingCase, input, input.name);
    const clusters = groupIntoClusters(labels);
    const estimate = estimateClusteredMean(values, clusters);
    const t = clusteredTInterval(estimate, level);
    const [flips] = signFlipPermutation([values], clusters, { seed, samples });
    const [bca] = computeBootstrapIntervals([values], clusters, { seed, samples, level });
    const got: typeof expected = {
      clustered: {
        mean: estimate.mean,
        error: estimate.error,
        p: clusteredTTest(estimate),
        interval: [t.low, t.high],
      },
      signFlip: { p: flips?.p as number, exact: flips?.exact as boolean },
      bca: { mean: bca?.mean as number, interval: [bca?.low as number, bca?.high as number] },
    };
    return Object.entries(expected).map(([at, value]) => ({
      at,
      expected: value,
      got: got[at as keyof typeof got],
      tolerance: HOST,
    }));
  },
};
