import type { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import type { BackendChoice } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { type DatasetInput, findDatasetOrigin } from '../../data/registry.ts';
import type { EncoderInput } from '../../index/encoders/registry.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { StepInput, Written } from '../../rank/retrieval/steps/functions.ts';
import type { controlOptions } from '../../rank/signals/worlds/world-parts.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import type { configFile } from '../config/config-schema.ts';
import { installGivenPlugins } from '../plugins/install.ts';
import type { PluginDefinition } from '../plugins/plugin.ts';
import type { PluginKind } from '../plugins/resolved-plugin.ts';
import type { FinishedExperiment } from './finished-experiment.ts';

type Config = z.input<typeof configFile>;

/** Plugins that a program passes. */
export type Plugins = readonly PluginDefinition[];

/**
 * The names of the members of one kind. A plugin of {@link loadPlugin} has members that the compiler does not know, so
 * every text is one of its names.
 */
type Names<P extends Plugins, Kind extends PluginKind> = P[number] extends infer Plugin
  ? PluginDefinition extends Plugin
    ? string
    : Plugin extends { readonly [K in Kind]: readonly (infer Member)[] }
      ? Member extends { readonly name: infer Name extends string }
        ? Name
        : never
      : never
  : never;

/** The options of a plugin's member: its name, and what its own schemas ask for. */
type Added<Key extends string, Name extends string> = Name extends string
  ? { readonly [K in Key]: Name } & Readonly<Record<string, unknown>>
  : never;

/** The names of the members of plugins that steps use. */
interface StepNames<P extends Plugins> {
  readonly indexes: Names<P, 'indexes'>;
  readonly signals: Names<P, 'signals'>;
  readonly fusions: Names<P, 'fusions'>;
  readonly steps: Names<P, 'steps'>;
}

type Steps<P extends Plugins> = readonly StepInput<StepNames<P>>[];
/** A step that adds to the options of one before it, such as sources to its search. */
type AddingStep<Name extends string = 'search' | 'score' | 'mix' | 'curate'> = Name extends string
  ? { readonly [Key in `${Name}+`]: Readonly<Record<string, unknown>> }
  : never;
/** Steps after those of another arm. */
type FurtherSteps<P extends Plugins> = readonly (Steps<P>[number] | AddingStep)[];

/**
 * An arm with more than its steps, as docs/arms.md describes it. @typeParam Name of the arms that it may begin with.
 */
export interface ArmMapping<P extends Plugins = readonly [], Name extends string = string> {
  readonly description?: string;
  readonly steps?: Steps<P>;
  /** The name of an arm before it, whose steps it begins with. */
  readonly from?: Name;
  /** Steps after those of `from`. */
  readonly then?: FurtherSteps<P>;
  /** Path -> value, for single options of `from`; null leaves a step or a part of one out. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Path -> the values to try on dev. */
  readonly tune?: Readonly<Record<string, readonly unknown[]>>;
  /** Another encoder than the experiment's, or options that are laid over it. */
  readonly embedding?:
    | EncoderInput
    | Partial<Omit<EncoderInput, 'encoder'>>
    | Added<'encoder', Names<P, 'encoders'>>
    | null;
  /** Another seed of encoder, indexes and null control. */
  readonly seed?: number | null;
  readonly control?: Written<z.input<typeof controlOptions>> | null;
}

/** An arm: the list of its steps, or a mapping. */
export type ArmInput<P extends Plugins = readonly [], Name extends string = string> = Steps<P> | ArmMapping<P, Name>;

/** The name of an arm that a sweep or several seeds add. */
type AddedArm = `${string} | ${string}`;

/** Metrics by name; any other id that `parseMetric` knows is accepted too. */
export type MetricName =
  | `${'mrr' | 'recall' | 'p' | 'map' | 'success' | 'ndcg' | 'ndcg_burges'}@${number}`
  | 'mrr'
  | 'map'
  | 'ndcg'
  | 'rprec'
  | 'bpref'
  | (string & Record<never, never>);

/**
 * An experiment as a program writes it: the keys of a config file, with `data` for `dataset`, `encoder` for
 * `embedding`, and the two parts of `evaluation` that every experiment sets at the top.
 */
export interface ExperimentInput<P extends Plugins = readonly [], Name extends string = string> {
  /** A dataset, or the options of one, as in a config. */
  readonly data: Dataset | DatasetInput | Added<'name', Names<P, 'datasets'>>;
  /** By default `lsa`. */
  readonly encoder?: EncoderInput | Added<'encoder', Names<P, 'encoders'>>;
  /** By name, each after the arm that it begins with. */
  readonly arms: { readonly [Arm in Name]: ArmInput<P, NoInfer<Name>> };
  /** The arm that the others are compared with; by default the first. */
  readonly baseline?: NoInfer<Name> | AddedArm;
  readonly metrics?: readonly MetricName[];
  readonly sweep?: Written<Config['sweep']>;
  readonly controls?: Written<Config['controls']>;
  /** Adds an arm beside each that shows a context: as many tokens of unrelated turns. */
  readonly placebo?: boolean;
  /** With how many seeds each arm is run; by default one. */
  readonly seeds?: number;
  /** Plugins whose members the other keys name: see `definePlugin`. */
  readonly plugins?: P;
  readonly only?: Written<Config['only']>;
  readonly tuning?: Written<Config['tuning']>;
  readonly evaluation?: Written<Omit<Config['evaluation'], 'metrics' | 'baseline'>>;
  /** The name of the folder that `save` writes; by default `experiment`. */
  readonly name?: string;
  readonly description?: string;
  /** By default 1. */
  readonly seed?: number;
  /** By default the active backend, or the first that loads. */
  readonly backend?: BackendChoice;
}

const SOURCE = 'experiment()';

/** The keys of a config file that have another name here. */
const NAMES: readonly (readonly [config: string, here: string])[] = [
  ['dataset', 'data'],
  ['embedding', 'encoder'],
  ['evaluation.metrics', 'metrics'],
  ['evaluation.baseline', 'baseline'],
];

/** The fault at the path where the program wrote the value. */
function translateFault(fault: ConfigurationFault): ConfigurationFault {
  const { path } = fault;
  const found = NAMES.find(
    ([config]) => path === config || path.startsWith(`${config}.`) || path.startsWith(`${config}[`),
  );
  return found === undefined ? fault : { ...fault, path: `${found[1]}${path.slice(found[0].length)}` };
}

/** Keys of a config file that a program must write by their names here. */
function findForeignKeys(input: ExperimentInput<Plugins>): ConfigurationFault[] {
  const written = { ...input, ...Object.fromEntries(listEvaluationKeys(input)) } as Readonly<Record<string, unknown>>;
  return NAMES.filter(([config]) => Object.hasOwn(written, config)).map(([path, nearest]) => ({
    path,
    expected: `its name here, ${nearest}`,
    got: `unknown key ${JSON.stringify(path)}`,
    nearest,
  }));
}

function listEvaluationKeys({ evaluation }: ExperimentInput<Plugins>): [string, unknown][] {
  if (evaluation === null || typeof evaluation !== 'object') return [];
  return Object.entries(evaluation).map(([key, value]) => [`evaluation.${key}`, value]);
}

function isDataset(data: ExperimentInput<Plugins>['data']): data is Dataset {
  return 'corpus' in data && data.corpus instanceof Corpus;
}

/** An experiment whose config is complete. */
export interface ResolvedExperiment {
  readonly config: ExperimentConfig;
  /** Null where the config names the data. */
  readonly dataset: Dataset | null;
}

/**
 * The config of an experiment, complete and checked, as a config file gives it.
 *
 * @throws ConfigurationError with all faults at once, each at the path where the program wrote the value.
 */
export function resolveExperiment(input: ExperimentInput<Plugins>): ResolvedExperiment {
  const foreign = findForeignKeys(input);
  if (foreign.length > 0) throw new ConfigurationError(SOURCE, foreign);
  const {
    data,
    encoder = { encoder: 'lsa' },
    metrics,
    baseline = Object.keys(input.arms ?? {})[0],
    evaluation,
    plugins,
    ...rest
  } = input;
  if (data === null || typeof data !== 'object')
    throw new ConfigurationError(SOURCE, [
      { path: 'data', expected: 'a dataset, from fromTurns or loadDataset, or its options', got: String(data) },
    ]);
  const dataset = isDataset(data) ? data : null;
  const written = dataset === null ? data : (findDatasetOrigin(dataset) ?? { name: 'memory' });
  const raw = {
    name: 'experiment',
    ...rest,
    ...(plugins === undefined ? {} : { plugins: installGivenPlugins(plugins) }),
    dataset: written,
    embedding: encoder,
    evaluation: { ...evaluation, baseline, ...(metrics === undefined ? {} : { metrics }) },
  };
  try {
    return { config: resolveConfig(structuredClone(raw), SOURCE), dataset };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(SOURCE, error.faults.map(translateFault), { cause: error });
  }
}

/** How an experiment is run: how to stop it, what shows its progress, and where it keeps intermediate results. */
export interface ExperimentRunOptions {
  /** Once it is aborted, `run` rejects with its reason. */
  readonly signal?: AbortSignal;
  /** By default bars on a terminal, and nothing elsewhere; null shows nothing. */
  readonly progress?: StartProgress | null;
  /**
   * Where prepared data, embeddings and stages are kept for later runs, such as `.ragpp/cache`; by default they stay in
   * memory.
   */
  readonly cache?: string | null;
  /** The folder of runs, such as `results/runs`, that counts a look at a test split; by default `save` counts it. */
  readonly results?: string;
}

/** An experiment that was checked and can be run. */
export interface Experiment {
  /** With every default, arm and sweep written out; what `ragpp config show` prints of a file. */
  readonly config: ExperimentConfig;
  /** Runs all arms in this process and measures them. */
  run(options?: ExperimentRunOptions): Promise<FinishedExperiment>;
}

async function run(
  { config, dataset }: ResolvedExperiment,
  { signal, progress, cache = null, results }: ExperimentRunOptions,
): Promise<FinishedExperiment> {
  const { runResolved } = await import('./finished-experiment.ts');
  return runResolved({ config, dataset, cacheFolder: cache, progress, signal, countedIn: results });
}

/**
 * An experiment from code: what `ragpp run` makes of a config file, with the same numbers, without a file or a folder.
 *
 * @throws ConfigurationError with all faults at once.
 */
export function experiment<const P extends Plugins = readonly [], const Name extends string = string>(
  input: ExperimentInput<P, Name>,
): Experiment {
  const resolved = resolveExperiment(input as unknown as ExperimentInput<Plugins>);
  return { config: resolved.config, run: (options = {}) => run(resolved, options) };
}
