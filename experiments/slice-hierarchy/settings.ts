import { z } from 'zod';
import { datasetOptions } from '../../src/data/registry.ts';
import { slicePolicySchema } from '../../src/kernel/policies/policy.ts';

const task = z.strictObject({
  dataset: datasetOptions,
  split: z.enum(['dev', 'test']).default('test'),
  /** The policy of one level; those of two levels differ in `hierarchy` alone. */
  policy: slicePolicySchema.prefault({
    id: 'near',
    anchor: 'newest-of-author',
    unanchored: 'channel',
    relationWeight: { author: 0.9, channel: 0.95 },
  }),
});
/** A dataset, and where its slices start. */
export type HierarchyTask = z.output<typeof task>;

export const hierarchySettings = z.strictObject({
  seed: z.int().default(20260101),
  tasks: z
    .array(task)
    .min(1)
    .prefault([{ dataset: { name: 'mail-threads' } }]),
  /** The first queries in time order; null: all. */
  limitQueries: z.int().min(2).nullable().default(null),
  /** The shares of `maxNodes` that whole conversations may take. */
  coarseShares: z.array(z.number().gt(0).lt(1)).min(1).default([0.25, 0.5, 0.75]),
  /** The number of first results that a slice is refined around. */
  around: z.int().min(1).max(100).default(5),
  samples: z.int().min(100).default(10_000),
});
export type HierarchySettings = z.output<typeof hierarchySettings>;
