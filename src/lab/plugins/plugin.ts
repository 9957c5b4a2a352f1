import { z } from 'zod';
import { ConfigurationError, PluginError } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import type { DatasetContext } from '../../data/prepared/datasets.ts';
import type { JudgedRanking } from '../../eval/metrics/judged-ranking.ts';
import type { IndexContext, IndexReads } from '../../index/candidates/index-definition.ts';
import type { EncoderInputs } from '../../index/encoders/encoder-definition.ts';
import type { Candidates, QueryBatch } from '../../model/candidates.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { ScoreColumns } from '../../ops/fusion/score-columns.ts';
import type { RankedCandidate } from '../../rank/retrieval/steps/select.ts';
import { isSignalName } from '../../rank/signals/plan.ts';
import type { World } from '../../rank/signals/signal.ts';
import type { CandidatePool } from '../../rank/signals/stage.ts';
import { WORLD_PARTS, type WorldPart } from '../../rank/signals/worlds/world-parts.ts';

/** A member of a plugin, as errors name it. */
export interface Guard {
  /** The value that the plugin's function returns; an error that it throws becomes one that names the member. */
  run<T>(work: () => T): T;
  runAsync<T>(work: () => T | Promise<T>): Promise<T>;
  /** @param fault ends with what to do. */
  fail(fault: string, facts?: Readonly<Record<string, unknown>>): never;
  /**
   * @throws PluginError for an array of another length or with a number that is not finite.
   * @param nameNumber names a position.
   */
  assertNumbers(numbers: unknown, length: number, nameNumber: (i: number) => string): void;
}

/** @param plugin name and version. @param member such as `signal short`. */
export function createGuard(plugin: string, member: string): Guard {
  const fail = (fault: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown): never => {
    throw new PluginError(plugin, `${member} ${fault}`, { member, ...facts }, cause === undefined ? {} : { cause });
  };
  const wrap = (error: unknown): never => {
    if (error instanceof PluginError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return fail(`threw: ${message}; correct the plugin`, {}, error);
  };
  return {
    fail,
    run(work) {
      try {
        return work();
      } catch (error) {
        return wrap(error);
      }
    },
    async runAsync(work) {
      try {
        return await work();
      } catch (error) {
        return wrap(error);
      }
    },
    assertNumbers(numbers, length, nameNumber) {
      if (!(numbers instanceof Float32Array || numbers instanceof Float64Array))
        return fail(`returned no array of floats: ${describe(numbers)}; return a Float32Array or Float64Array`);
      if (numbers.length !== length)
        return fail(`returned ${numbers.length} numbers: expected ${length}; return one for each nameNumber`);
      const at = numbers.findIndex((number: number) => !Number.isFinite(number));
      if (at >= 0) fail(`returned ${numbers[at]} for ${nameNumber(at)}; return a finite number`);
    },
  };
}

export function describe(value: unknown): string {
  return value === null || typeof value !== 'object' ? String(value) : (value.constructor?.name ?? 'an object');
}

type MaybePromise<T> = T | Promise<T>;

/** The schema of each option of a member, by name; a member without it takes none. */
type Shape = Readonly<Record<string, z.ZodType>>;
/** The options of a member as its schemas make them. A function may declare a narrower parameter, such as `{ boost: number }`. */
type Options = Readonly<Record<string, unknown>>;

/** A query with one of its candidates, which is strictly earlier. */
export interface CandidatePair {
  readonly query: Query;
  readonly turn: Turn;
  /** Of the turn in the corpus. */
  readonly position: number;
  /** How many leading turns of the corpus existed at the query's time: a signal reads no other. */
  readonly cutoff: number;
  readonly corpus: Corpus;
}

/** A number for each candidate. */
export interface PluginScores {
  readonly name: string;
  readonly summary: string;
  readonly options?: Shape;
  /** The parts of the world that it reads, for null controls and refitted encoders; by default all with `compute`, and texts, times and replies with `score`. */
  readonly reads?: readonly WorldPart[];
  /** The score of a pair: finite, and from 0 up where it is decayed or summed as it is. */
  score?(pair: CandidatePair, options: Options): number;
  /** In the place of `score`: all pairs at once. @returns row-major [Q, C], 0 where the pool is padded. */
  compute?(work: { readonly world: World; readonly pool: CandidatePool }, options: Options): MaybePromise<Float32Array>;
}

/** A score of each candidate, for the step `score` of an arm. Its name is `family[.variant][@context]`, see docs/signals.md. */
export interface PluginSignal extends PluginScores {
  /** The indexes whose lists a fusion of lists takes for the signal. */
  readonly indexes?: readonly string[];
}

/** A step of an arm, by its name: changes scores by a number for each candidate, or leaves candidates out. */
export interface PluginStep extends PluginScores {
  /** What the numbers of `score` or `compute`, which are from 0 up, do to the scores: `multiply` by default, or `add`. */
  readonly change?: 'multiply' | 'add';
  /** In the place of both: which candidates of a query stay in its ranking. @param ranked best first. @returns true or false for each. */
  keep?(ranked: readonly RankedCandidate[], options: Options): readonly boolean[];
}

/** A metric, by its name in `evaluation.metrics`. */
export interface PluginMetric {
  readonly name: string;
  readonly description: string;
  /** True if `name@k` and `name` exist; by default both. */
  readonly cutoff?: 'required' | 'optional' | 'none';
  /** The value for one query. @param k infinite without a cutoff. */
  compute(ranking: JudgedRanking, k: number): number;
}

/** An encoder of a plugin: `create` makes it with the options of the config, which `options` checks. Its vectors have `dimension` numbers. */
export interface PluginEncoder {
  readonly name: string;
  readonly description: string;
  readonly options?: Shape;
  /** May be fitted on `fitTexts` alone. */
  create(
    options: Options,
    inputs: EncoderInputs,
  ): MaybePromise<{
    readonly dimension: number;
    /** @returns row-major [texts, dimension], rows of length 1 or all 0. */
    encode(texts: readonly string[]): MaybePromise<Float32Array>;
    dispose?(): void;
  }>;
}

/** A candidate index of a plugin: `create` makes it with the options of the config, which `options` checks. */
export interface PluginIndex {
  readonly name: string;
  readonly description: string;
  /** Besides `k`, which every index has. */
  readonly options?: Shape;
  /** By default texts, vectors and times. */
  readonly reads?: IndexReads;
  create(
    options: Options,
    context: IndexContext,
  ): {
    /** The best k turns for each query among the first `cutoffs[q]` that `visible[q]` lists (`listVisibleTurns`), best first; -1 pads a row. */
    search(queries: QueryBatch, k: number): MaybePromise<Candidates>;
    dispose?(): void;
  };
}

/** A dataset of a plugin: `load` reads it with the options of the config, which `options` checks. */
export interface PluginDataset {
  readonly name: string;
  readonly description: string;
  readonly options?: Shape;
  readonly licence?: string;
  readonly source?: string;
  load(options: Options, context: DatasetContext): MaybePromise<Dataset>;
}

/** A fusion of the signals of an arm, over the whole pool. */
export interface PluginFusion {
  readonly name: string;
  readonly description: string;
  readonly options?: Shape;
  /** @param columns by signal, [C]. @returns [C] */
  fuse(columns: ScoreColumns, options: Options): Float64Array;
}

/** Members that a program or a config adds. */
export interface PluginDefinition {
  readonly name: string;
  /** Raised when results change in a way that the code of the module does not show, such as a data file. */
  readonly version: string | number;
  /** `import.meta.url` of the module, for a plugin that is not loaded from its path. */
  readonly module?: string;
  readonly signals?: readonly PluginSignal[];
  readonly metrics?: readonly PluginMetric[];
  readonly encoders?: readonly PluginEncoder[];
  readonly indexes?: readonly PluginIndex[];
  readonly datasets?: readonly PluginDataset[];
  readonly fusions?: readonly PluginFusion[];
  readonly steps?: readonly PluginStep[];
}

const call = z.custom((value) => typeof value === 'function', 'a function');
const text = z.string().min(1);
const shape = z
  .record(
    z.string(),
    z.custom((value) => value instanceof z.ZodType, 'a schema of zod'),
  )
  .optional();
const member = { name: text.regex(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and hyphens'), description: text };

const scores = {
  summary: text,
  options: shape,
  reads: z.array(z.enum(WORLD_PARTS)).optional(),
  score: call.optional(),
  compute: call.optional(),
};

const definition = z.strictObject({
  name: text.regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and hyphens'),
  version: z.union([text, z.number()]),
  module: text.optional(),
  signals: z
    .array(
      z
        .strictObject({
          ...scores,
          name: text.refine(isSignalName, 'a name of the form family[.variant][@context]'),
          indexes: z.array(text).optional(),
        })
        .refine(({ score, compute }) => (score === undefined) !== (compute === undefined), 'either score or compute'),
    )
    .optional(),
  metrics: z
    .array(
      z.strictObject({
        ...member,
        name: text.regex(/^[a-z][a-z0-9_-]*$/, 'lower-case letters, digits, hyphens and underscores'),
        cutoff: z.enum(['required', 'optional', 'none']).optional(),
        compute: call,
      }),
    )
    .optional(),
  encoders: z.array(z.strictObject({ ...member, options: shape, create: call })).optional(),
  indexes: z
    .array(
      z.strictObject({
        ...member,
        options: shape,
        reads: z.array(z.enum(['texts', 'vectors', 'times'])).optional(),
        create: call,
      }),
    )
    .optional(),
  datasets: z
    .array(z.strictObject({ ...member, options: shape, licence: text.optional(), source: text.optional(), load: call }))
    .optional(),
  fusions: z.array(z.strictObject({ ...member, options: shape, fuse: call })).optional(),
  steps: z
    .array(
      z
        .strictObject({
          ...scores,
          name: member.name,
          change: z.enum(['multiply', 'add']).optional(),
          keep: call.optional(),
        })
        .refine(
          ({ score, compute, keep }) => [score, compute, keep].filter((one) => one !== undefined).length === 1,
          'one of score, compute and keep',
        )
        .refine(
          ({ change, keep }) => change === undefined || keep === undefined,
          'change beside score or compute alone',
        ),
    )
    .optional(),
});

const PLUGINS = new WeakSet<object>();

/** True if a value is what {@link definePlugin} returned. */
export function isPlugin(value: unknown): value is PluginDefinition {
  return typeof value === 'object' && value !== null && PLUGINS.has(value);
}

/**
 * Checks the members of a plugin, for `plugins` of {@link experiment} or as the default export of a module that a config names.
 *
 * @throws ConfigurationError with every fault.
 */
export function definePlugin<const Plugin extends PluginDefinition>(plugin: Plugin): Plugin {
  const found = check(definition, plugin);
  if ('faults' in found) throw new ConfigurationError(`plugin ${String(plugin?.name)}`, found.faults);
  PLUGINS.add(plugin);
  return plugin;
}
