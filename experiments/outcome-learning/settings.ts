import { z } from 'zod';
import { PRIOR_KAPPA } from '../../src/memory/outcomes/prior-bundle.ts';

const count = z.int().min(1);
const ascending = (schema: z.ZodNumber) =>
  z
    .array(schema)
    .min(1)
    .refine((values) => values.every((value, i) => i === 0 || (values[i - 1] as number) < value), 'ascending numbers');

const planted = z
  .strictObject({
    /** Worlds of each strength, with seeds of their own. */
    worlds: count.default(4),
    topics: z.int().min(2).default(30),
    /** Records of each topic. */
    records: count.default(8),
    dimension: z.int().min(2).default(32),
    /** The length of the random part of a record beside its topic, of length 1. */
    noise: z.number().min(0).default(0.8),
    /** Records that a question finds, and the first of them that are shown. */
    pool: z.int().min(2).default(12),
    shown: count.default(2),
    /** The width of the rates of success: they are drawn from 1/2 - strength / 2 to 1/2 + strength / 2. */
    strengths: ascending(z.number().min(0).max(1)).default([0, 0.5, 1]),
    /** Weights of the reranker `outcome`. */
    alphas: ascending(z.number().positive()).default([0.5, 2]),
    kappa: z.number().positive().default(PRIOR_KAPPA),
    /** The chance that the last place is given by lot, of the policy that does so. */
    share: z.number().min(0).max(1).default(0.1),
    /** The ends of the parts of a run, in outcomes recorded for each record, on average. */
    outcomes: ascending(z.number().positive()).default([1, 2, 4, 8, 16]),
  })
  .refine(({ shown, pool }) => shown <= pool, 'shown at most pool');
export type PlantedSettings = z.output<typeof planted>;

const mail = z.strictObject({
  /** Arms of the config whose rankings are ordered again. */
  arms: z.array(z.string().min(1)).min(1).default(['bm25', 'bm25 × 24 h']),
  /** Places of a ranking that are ordered again. */
  depth: count.default(100),
  /** A message is answered if somebody else replies within these hours; the outcome is recorded when they have passed. */
  answerHours: z.number().positive().default(72),
  /** Outcomes of messages that are not answered; that of an answered one is 1. */
  failures: z.array(z.number()).min(1).default([0, -1]),
  /** Shares of the outcomes that are recorded. */
  shares: ascending(z.number().positive().max(1)).default([0.1, 0.3, 1]),
  /** Weights of the reranker `outcome`, from which that with the best metric on dev is chosen. */
  alphas: ascending(z.number().positive()).default([0.125, 0.25, 0.5, 1, 2]),
  metric: z.string().min(1).default('mrr@10'),
});
export type MailSettings = z.output<typeof mail>;

/** The settings of the experiment; unknown keys are errors. */
export const outcomeLearningSettings = z.strictObject({
  seed: z.int().default(20260101),
  /** A config whose queries are the replies of a dataset with times, threads and authors. */
  config: z.string().min(1).default('configs/quickstart.yaml'),
  planted: planted.prefault({}),
  mail: mail.prefault({}),
  /** Resamples of the intervals, and draws of the tests. */
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});
export type OutcomeLearningSettings = z.output<typeof outcomeLearningSettings>;
