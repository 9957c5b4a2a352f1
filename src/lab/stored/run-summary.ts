import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { parse } from '../../core/validation/validation.ts';
import { type Plain, readYaml } from '../composition/config-file.ts';
import { numberedLook } from '../measure/result.ts';
import { isUnderWay } from '../run/partial-folder.ts';

const text = z.string();
const interval = z.object({ mean: z.number(), low: z.number().nullable(), high: z.number().nullable() });
const comparison = z.looseObject({
  difference: interval,
  p: z.number(),
  correctedP: z.number(),
  verdict: z.enum(['better', 'worse', 'undecided']),
});

const armSchema = z.object({
  name: text,
  tuned: z.record(text, z.unknown()),
  levels: z.record(text, text).nullable().default(null),
  control: z.object({ of: text, kind: text }).nullable().default(null),
  metrics: z.record(text, interval),
  comparisons: z.record(text, comparison).nullable(),
  seeds: z.object({ count: z.number() }).optional(),
  holes: z.number(),
});

const metricsSchema = z.object({
  experiment: text,
  hash: text,
  queries: z.number(),
  baseline: text,
  metrics: z.array(text),
  statistics: z.object({ samples: z.number(), level: z.number() }).default({ samples: 10_000, level: 0.95 }),
  passports: z.record(text, z.record(text, z.unknown())).default({}),
  arms: z.array(armSchema),
  failures: z.array(z.object({ name: text, code: text, message: text })).default([]),
  stopped: z.array(z.object({ name: text, queries: z.number(), metric: text, mean: z.number() })).default([]),
  dataset: z.looseObject({ name: text, split: text, hash: text }),
  look: numberedLook.optional(),
});

const environmentSchema = z.looseObject({
  version: text,
  commit: text,
  date: text.optional(),
  backend: text,
  machine: z.looseObject({ cpu: text, cores: z.number() }),
  seed: z.number(),
  command: text,
});

/** The content of the small files of a run, also of a published one: config.yaml, environment.json and metrics.json of this version or the one before it. */
export interface RunSummary extends z.output<typeof metricsSchema> {
  readonly folder: string;
  readonly environment: z.output<typeof environmentSchema>;
}

function parseSummaryFile<S extends z.ZodType>(schema: S, path: string): z.output<S> {
  const content = readText(path);
  try {
    return parse(schema, JSON.parse(content), path);
  } catch (error) {
    throw new ValidationError(
      `not the metrics of a run: ${path}; name the folder of a run`,
      { path },
      { cause: error },
    );
  }
}

/** @throws StorageError for a file that cannot be read, ValidationError for one that is not of a run with arms. */
export function readRunSummary(folder: string): RunSummary {
  const metrics = parseSummaryFile(metricsSchema, join(folder, 'metrics.json'));
  return { folder, ...metrics, environment: parseSummaryFile(environmentSchema, join(folder, 'environment.json')) };
}

/** The config that a run was made with, written out in full. */
export function readRunConfig(folder: string): Plain {
  return readYaml(join(folder, 'config.yaml'));
}

/**
 * The folders with a metrics.json, in the folder itself or anywhere below it, in order of their paths. What lies within a run's folder belongs to it; one that is
 * being written or replaced is none.
 *
 * @throws StorageError for a folder that cannot be read.
 */
export function findRunFolders(root: string): string[] {
  if (existsSync(join(root, 'metrics.json'))) return [root];
  try {
    const below = readdirSync(root, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() && !isUnderWay(entry.name),
    );
    return below
      .map(({ name }) => join(root, name))
      .sort()
      .flatMap(findRunFolders);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError('read folder', root, { cause: error });
  }
}
