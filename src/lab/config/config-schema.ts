import { z } from 'zod';
import { BACKENDS } from '../../core/tensors/active-backend.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { datasetOptions } from '../../data/registry.ts';
import { readDirection, readMetricName } from '../../eval/metrics/metric.ts';
import { CORRECTIONS, type CorrectionName, TESTS } from '../../eval/significance/multiple-comparisons.ts';
import { encoderOptions } from '../../index/encoders/registry.ts';
import { createArmSchema, type RankOptions } from '../../rank/retrieval/written-steps.ts';
import { CONTROL_KINDS, controlOptions } from '../../rank/signals/worlds/world-parts.ts';
import { formatFileName } from '../composition/arms.ts';
import { extendsOptions, groupOptions } from '../composition/config-composition.ts';
import { CONFIG_LIMITS } from '../composition/yaml-text.ts';
import { launcherOptions } from '../launch/registry.ts';
import { resolvedPlugin, writtenPlugins } from '../plugins/resolved-plugin.ts';
import { sweepDesign, sweepOptions } from '../sweep/sweep.ts';

/** A metric by any name that is accepted. */
const metric = z.string().transform(readMetricName);

/** The fault of a metric of which less is better: an empty ranking would be the best. */
const DECIDING_FAULT = 'a metric of which more is better, such as mrr@10';

/** The metric of a choice: the point or arm of the highest mean is chosen. */
const decidingMetric = metric.refine((id) => readDirection(id) === 'higher', DECIDING_FAULT);

/** Free text for tables; {@link formatFileName} makes the run file's name of it. */
const armName = z
  .string()
  .max(CONFIG_LIMITS.armNameCharacters)
  .refine((name) => formatFileName(name) !== '', 'a name with a letter or digit');

/** The options that make an arm a null control. */
function assertControlled(
  { control, extends: parent }: { readonly control: unknown; readonly extends?: string | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (control !== null && parent === undefined)
    context.addIssue({ code: 'custom', path: ['control'], message: 'an arm that extends the one that it controls' });
}

/** Asserts that no policy of a slice is tuned: visibility is a rule and no hyper-parameter. */
function assertFixedSlice(
  { tune }: { readonly tune: Readonly<Record<string, unknown>> },
  context: z.core.$RefinementCtx,
): void {
  for (const path of Object.keys(tune))
    if (path.split('.')[0] === 'slice')
      context.addIssue({
        code: 'custom',
        path: ['tune', path],
        message: 'no slice, which is not tuned; write an arm for each policy',
      });
}

/** Options of the experiment that an arm may have for itself; null for those of the experiment. */
export const encodingOptions = {
  embedding: encoderOptions.nullable().default(null),
  /** The seed of encoder, indexes and null control. Queries are drawn, and tests resampled, by the experiment's. */
  seed: z.int().nullable().default(null),
};

/** Keys of an arm besides the options that decide how it ranks. */
const armShape = {
  name: armName,
  description: z.string().default(''),
  extends: armName.optional(),
  ...encodingOptions,
  /** Path within the arm -> the values to try on dev. */
  tune: z.record(z.string(), z.array(z.unknown()).min(1)).default({}),
  /** The levels of an arm that a sweep generated: factor -> level. */
  levels: z.record(z.string(), z.string()).nullable().default(null),
  /** The arm that this one is a repetition of, with another seed. Written by `seeds`. */
  repeats: armName.nullable().default(null),
  /**
   * The paths that the arm changes from its start, listed in its name. Tuned values of the arm it extends are not
   * reused at these paths.
   */
  differences: z.array(z.string()).default([]),
};

/**
 * A checked arm of an experiment: its steps, its name, its encoder and seed (by default those of the experiment), and
 * the values to tune on dev.
 */
export type ArmOptions = RankOptions & z.output<z.ZodObject<typeof armShape>>;

/** The schema of an arm that is written out. */
export const armOptions = createArmSchema({ ...armShape, control: controlOptions.nullable().default(null) })
  .superRefine((arm, context) => assertControlled(arm as ArmOptions, context))
  .superRefine((arm, context) => assertFixedSlice(arm as ArmOptions, context)) as z.ZodType<
  ArmOptions,
  Record<string, unknown>
>;

/** The name of a folder. */
export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and hyphens')
  .max(CONFIG_LIMITS.nameCharacters);

/** Metrics by which a table has columns. */
export const metrics = z
  .array(metric)
  .min(1)
  .superRefine((ids, context) => {
    for (const [i, id] of ids.entries())
      if (ids.indexOf(id) < i) context.addIssue({ code: 'custom', path: [i], message: 'each metric once' });
  });

/** Budgets of tokens at which evidence is measured. */
export const tokenBudgets = z
  .array(z.number().int().min(1))
  .min(2)
  .refine(
    (budgets) => budgets.every((budget, i) => i === 0 || budget > (budgets[i - 1] as number)),
    'ascending numbers',
  );

/** A metric deeper than a ranking would not measure what its name states. */
interface Depths {
  readonly metrics: readonly string[];
  readonly depth: number;
  readonly attributionDepth: number;
  readonly attributionTokens?: number | undefined;
  readonly conservation?: { readonly k: number } | undefined;
}

function assertDepth(
  { metrics, depth, attributionDepth, attributionTokens, conservation }: Depths,
  context: z.core.$RefinementCtx,
): void {
  const deepest = metrics.find((id) => Number(id.split('@')[1]) > depth);
  if (deepest !== undefined)
    context.addIssue({ code: 'custom', path: ['depth'], message: `as many places as ${deepest} looks at` });
  if (conservation !== undefined && conservation.k > depth)
    context.addIssue({ code: 'custom', path: ['depth'], message: 'at least conservation.k' });
  if (attributionTokens !== undefined && attributionDepth > depth)
    context.addIssue({
      code: 'custom',
      path: ['depth'],
      message: 'at least attributionDepth, since tokens are counted to there',
    });
}

const raceOptions = z.strictObject({
  confidence: z.number().gt(0.5).lt(1).default(0.99),
  /** Looks at growing samples of the conversations, each twice as large as the one before, the last of them all. */
  rounds: z.number().int().min(2).max(20).default(4),
});
export const RACE_DEFAULTS = freezeDeeply(raceOptions.parse({}));

const conservationOptions = z.strictObject({
  /** Ranks of the first turns that are measured beside the pool and the packed context. */
  k: z.number().int().min(1).default(10),
});

const latencyOptions = z.strictObject({
  queries: z.number().int().min(1).default(50),
  warmUp: z.number().int().min(1).default(5),
});

const evaluationOptions = z
  .strictObject({
    split: z.enum(['dev', 'test', 'all']).default('test'),
    /** Limits the queries of each split, of conversations drawn by the seed; null for all. */
    limitQueries: z.number().int().min(2).nullable().default(null),
    /** Of the conversations with such a query, this share, drawn by the seed. */
    share: z.number().gt(0).max(1).default(1),
    metrics: metrics.prefault(['mrr@10', 'recall@10', 'ndcg@10', 'recall@1']),
    baseline: armName,
    /** The paired test behind every p, clustered by conversation. */
    test: z.enum(TESTS).default('permutation'),
    /** The correction for comparing several arms. */
    correction: z.enum(Object.keys(CORRECTIONS) as CorrectionName[]).default('holm'),
    /** Resamples of the bootstrap and of the permutation test. */
    samples: z.number().int().min(100).default(10_000),
    level: z.number().gt(0).lt(1).default(0.95),
    /** Places of each ranking that are kept in the run file. */
    depth: z.number().int().min(1).default(100),
    /** Places of each ranking that the report's inspector shows. */
    inspect: z.number().int().min(1).default(10),
    /** A relevant turn below this rank is lost; the report names the stage that lost it. */
    attributionDepth: z.number().int().min(1).default(10),
    /** A relevant turn above that rank that does not fit into this number of tokens is lost to the budget; absent in a resolved config that has none, so that its hash stays. */
    attributionTokens: z.number().int().min(1).optional(),
    /** Tokens at which the evidence of each arm is measured; absent as above. */
    tokenBudgets: tokenBudgets.optional(),
    /** Measures the conservation of what each query was shown; absent as above. */
    conservation: conservationOptions.optional(),
    /** Stops arms early that are clearly worse than the best one. */
    race: raceOptions.nullable().default(null),
    /** Times every arm except null controls, one query at a time; does not affect results. */
    latency: latencyOptions.nullable().default(null),
  })
  .superRefine(assertDepth)
  .refine(({ race, metrics: [first = ''] }) => race === null || readDirection(first) === 'higher', {
    path: ['metrics', 0],
    message: `with race ${DECIDING_FAULT}`,
  });

/** The whole of a config that is written out. */
export const experimentConfig = z.strictObject({
  name: slug,
  description: z.string().default(''),
  seed: z.int('one whole number; for several seeds write their count, as seeds: 5').default(1),
  backend: z.enum(['auto', ...BACKENDS]).default('auto'),
  dataset: datasetOptions,
  embedding: encoderOptions,
  /** How hyper-parameters are chosen, on dev alone. */
  tuning: z
    .strictObject({
      metric: decidingMetric.prefault('mrr@10'),
      /** Share of the dev conversations, the latest, for tuning arms; learned parts are then fitted on the others. */
      holdout: z.number().gt(0).lt(1).default(0.3),
    })
    .prefault({}),
  evaluation: evaluationOptions,
  /** The names of the arms that are run, with the baseline; null for all. */
  only: z.array(armName).min(1).nullable().default(null),
  arms: z.array(armOptions).min(1),
  sweep: sweepDesign.nullable().default(null),
  /** Those whose members the config names. */
  plugins: z.array(resolvedPlugin).optional(),
  /** Where the arms run; does not affect results. */
  launcher: launcherOptions.prefault({ name: 'local' }),
});

/** A placebo is no structure, and has a key of its own. */
const STRUCTURE_KINDS = CONTROL_KINDS.filter((kind) => kind !== 'placebo');
const controls = z.union([z.boolean(), z.array(z.enum(STRUCTURE_KINDS)).min(1)]);
export type ControlsOptions = z.output<typeof controls>;

const writtenOnly = {
  /** Files that this one is laid over, relative to it. */
  extends: extendsOptions.optional(),
  groups: groupOptions.optional(),
  /** Null controls of the arms that are run. */
  controls: controls.default(false),
  /** An arm beside each arm that is run, which shows as many tokens of unrelated turns. */
  placebo: z.boolean().default(false),
  /** Several datasets by name, in place of `dataset`: the experiment is run on each. */
  datasets: z.record(slug, datasetOptions).optional(),
  /** How many seeds each arm is run with. */
  seeds: z.int().min(1).max(CONFIG_LIMITS.seeds).default(1),
};

/** The whole of a config file. */
export const configFile = experimentConfig.extend({
  ...writtenOnly,
  sweep: sweepOptions.nullable().default(null),
  plugins: writtenPlugins.optional(),
});

/** A config file whose arms and sweep are written out. */
export const expandedFile = experimentConfig.extend(writtenOnly);

/** A checked experiment with every default in place and every arm and sweep written out: what a run executes. docs/config.md lists its keys. */
export type ExperimentConfig = z.output<typeof experimentConfig>;
