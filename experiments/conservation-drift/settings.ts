import { z } from 'zod';
import { datasetOptions } from '../../src/data/registry.ts';
import { encoderOptions } from '../../src/index/encoders/registry.ts';

/** The settings of the experiment; unknown keys are errors. The encoder is that of configs/quickstart.yaml, so that both share the cache. */
export const driftSettings = z.strictObject({
  seed: z.int().default(20260101),
  dataset: datasetOptions.prefault({ name: 'spamassassin-threads' }),
  embedding: encoderOptions.prefault({ encoder: 'lsa', dimension: 512, dropStopWords: true, stem: true }),
  /** The conversations that the encoder is fitted on: those for it in every other experiment, or all. */
  fit: z.enum(['dev', 'all']).default('dev'),
  /** Days after which a message is removed. */
  retentionDays: z.int().min(1).default(30),
  /** Salience halves with each of these many days of age, in the policy that fades. */
  halfLifeDays: z.number().positive().default(7),
  /** Messages that the policy of busy threads has room for. */
  capacity: z.int().min(1).default(500),
  /** The table covers the days with at least this number of messages in the retention time before. */
  leastMessages: z.int().min(1).default(100),
});
export type DriftSettings = z.output<typeof driftSettings>;
