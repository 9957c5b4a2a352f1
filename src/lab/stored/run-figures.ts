import { join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { parse } from '../../core/validation/validation.ts';
import { CORRECTIONS, type CorrectionName, TESTS } from '../../eval/significance/multiple-comparisons.ts';
import { numberedLook } from '../measure/result.ts';

const text = z.string();
const estimate = z.object({ mean: z.number(), low: z.number().nullable(), high: z.number().nullable() });

const comparisonSchema = z.object({
  difference: estimate,
  p: z.number(),
  correctedP: z.number(),
  samples: z.number().nullable(),
  unresolved: z.boolean(),
  verdict: z.enum(['better', 'worse', 'undecided']),
  effectSize: z.number().nullable(),
  minimumDetectable: z.number().nullable(),
  wins: z.number(),
  ties: z.number(),
  losses: z.number(),
  /** Null in a run of an earlier version. */
  clusterWins: z.number().nullable().default(null),
  clusterTies: z.number().nullable().default(null),
  clusterLosses: z.number().nullable().default(null),
  signFlipP: z.number().nullable().default(null),
});

const armSchema = z.object({
  name: text,
  control: z.object({ of: text, kind: text }).nullable().default(null),
  metrics: z.record(text, estimate),
  comparisons: z.record(text, comparisonSchema).nullable(),
  holes: z.number(),
  seeds: z.object({ count: z.number(), deviations: z.record(text, z.number()) }).optional(),
});

const figuresSchema = z.object({
  experiment: text,
  hash: text,
  queries: z.number(),
  conversations: z.number(),
  baseline: text,
  metrics: z.array(text).min(1),
  statistics: z.object({
    test: z.enum(TESTS),
    correction: z.enum(Object.keys(CORRECTIONS) as CorrectionName[]),
    samples: z.number(),
    level: z.number(),
  }),
  arms: z.array(armSchema),
  failures: z.array(z.object({ name: text, code: text, message: text })).default([]),
  stopped: z.array(z.object({ name: text, queries: z.number() })).default([]),
  dataset: z.object({ name: text, split: text }),
  look: numberedLook.optional(),
});

/** The figures in the metrics.json of a run or of a training, as measured: nothing is computed again. */
export type RunFigures = z.output<typeof figuresSchema>;

/**
 * Reads the figures of a finished, published or rescored run, or of a training.
 *
 * @throws StorageError for a folder without metrics.json, ValidationError for a file that this version did not write.
 */
export function readRunFigures(folder: string): RunFigures {
  const path = join(folder, 'metrics.json');
  const content = readText(path);
  try {
    return parse(figuresSchema, JSON.parse(content), path);
  } catch (error) {
    throw new ValidationError(
      `not the metrics of a run or a training of this version: ${path}; name the folder of a run or a training, or run the experiment again`,
      { path },
      { cause: error },
    );
  }
}
