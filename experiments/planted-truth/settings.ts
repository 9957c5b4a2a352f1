import { z } from 'zod';
import { PLANTED_DEPENDENCIES } from '../../src/data/prepared/datasets.ts';

/** The settings of the experiment; unknown keys are errors. */
export const plantedTruthSettings = z.strictObject({
  seed: z.int().default(20260101),
  /** Datasets with other seeds, whose queries are measured together. */
  datasets: z.int().min(1).default(3),
  dependencies: z
    .array(z.enum(PLANTED_DEPENDENCIES))
    .min(1)
    .default([...PLANTED_DEPENDENCIES]),
  /** Strength 0 is the null control. */
  strengths: z.array(z.number().min(0).max(1)).min(1).default([0, 0.25, 0.5, 0.75, 1]),
  /** Of each dataset. 70 % are dev, half of which arms are tuned on; the others are measured. */
  conversations: z.int().min(20).default(250),
  turns: z.int().default(31),
  branching: z.int().default(5),
  wordNoise: z.number().default(0.1),
  /** Dimensions of the encoder. */
  dimension: z.int().min(1).default(64),
  /** Of bootstrap and permutation tests. */
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});
export type PlantedTruthSettings = z.output<typeof plantedTruthSettings>;
