import { z } from 'zod';
import { datasetOptions } from '../../src/data/registry.ts';
import { encoderOptions } from '../../src/index/encoders/registry.ts';

/** The outcomes that can be predicted: a mail is ham; the same without near-duplicates; a message is answered. */
export const TASKS = ['ham', 'ham, no near-duplicates', 'answered'] as const;
export type TaskName = (typeof TASKS)[number];

const ascending = (schema: z.ZodNumber) => z.array(schema).min(1);

/** The settings of the experiment; unknown keys are errors. The encoder is that of configs/quickstart.yaml. */
export const priorCalibrationSettings = z.strictObject({
  seed: z.int().default(20260101),
  tasks: z
    .array(z.enum(TASKS))
    .min(1)
    .default([...TASKS]),
  /** Reads each n-th mail of the archive; 1 reads all. */
  everyMail: z.int().min(1).default(1),
  /** Mails of these dates: before July 2002 the archive has nearly only spam. */
  from: z.iso.date().default('2002-07-01'),
  until: z.iso.date().default('2003-01-01'),
  /** Hours after a mail at which it is known whether it was spam. */
  labelHours: z.number().positive().default(24),
  /** The messages that are answered or not. */
  dataset: datasetOptions.prefault({ name: 'spamassassin-threads' }),
  /** A message counts as answered if somebody else replies within these hours; whether it was is known when they have passed. */
  answerHours: z.number().positive().default(72),
  embedding: encoderOptions.prefault({ encoder: 'lsa', dimension: 512, dropStopWords: true, stem: true }),
  /** Numbers of neighbours to choose from on dev. */
  neighbours: ascending(z.int().min(1)).default([1, 2, 5, 10, 20, 50, 100, 200, 500]),
  /** Weights are cosines to one of these powers. */
  powers: ascending(z.number().positive()).default([1, 4, 16, 64]),
  /** Counts at which confidence is one half. */
  kappas: ascending(z.number().positive()).default([0.2, 1, 5, 20, 100]),
  /** Numbers of latest outcomes for the recent base rate. */
  recent: ascending(z.int().min(1)).default([50, 100, 200, 500]),
  /** Bins of equal width over [0, 1]: of the calibration error, the plot, and the groups whose rate an interval should cover. */
  bins: z.int().min(1).default(10),
  /** Resamples of the intervals, and draws of the tests. */
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});
export type PriorCalibrationSettings = z.output<typeof priorCalibrationSettings>;
