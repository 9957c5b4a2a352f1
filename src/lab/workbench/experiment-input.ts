import type { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import type { BackendChoice } from '../../core/tensors/backend.ts';
import { type DatasetInput, findDatasetOrigin } from '../../data/registry.ts';
import type { EncoderInput } from '../../index/encoders/registry.ts';
import type { Dataset } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { RetrieverInput } from '../../rank/retrieval/retriever-options.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import type { configFile } from '../config/config-schema.ts';
import { installGivenPlugins } from '../plugins/config-plugins.ts';
import type { PluginKind } from '../plugins/install.ts';
import type { PluginDefinition } from '../plugins/plugin.ts';

type Config = z.input<typeof configFile>;

/** Options as a program writes them: constants too. */
type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Written<T[Key]> }
    : T;

type Retriever = Written<RetrieverInput>;
type Relevance = Retriever['relevance'];
type Trajectory = NonNullable<Retriever['trajectory']>;

/** Plugins that a program passes. */
export type Plugins = readonly PluginDefinition[];

/** The names of the members of one kind. A plugin of {@link loadPlugin} has members that the compiler does not know, so every text is one of its names. */
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

/** The options of an arm, each of which may come from the arm that it extends or from `base`. */
export interface ArmBase<P extends Plugins = readonly []>
  extends Partial<Omit<Retriever, 'candidates' | 'relevance' | 'scoring' | 'trajectory'>> {
  readonly candidates?: readonly (Retriever['candidates'][number] | Added<'index', Names<P, 'indexes'>>)[];
  readonly relevance?: Partial<Omit<Relevance, 'signals' | 'fusion'>> & {
    readonly signals?: readonly (Relevance['signals'][number] | Names<P, 'signals'>)[];
    readonly fusion?: Relevance['fusion'] | Added<'method', Names<P, 'fusions'>>;
  };
  /** Another encoder than the experiment's, or options that are laid over it. */
  readonly embedding?:
    | EncoderInput
    | Partial<Omit<EncoderInput, 'encoder'>>
    | Added<'encoder', Names<P, 'encoders'>>
    | null;
  /** Another seed of encoder, indexes and null control. */
  readonly seed?: number | null;
  /** With weights by coordinate, or the weight file that holds them. */
  readonly trajectory?: Trajectory | (Omit<Trajectory, 'weights'> & { readonly weights: string }) | null;
  /** A mix of signals, or the weight file that holds one. */
  readonly scoring?:
    | (Omit<NonNullable<Retriever['scoring']>, 'weights'> & {
        readonly weights: string | Readonly<Record<string, number>>;
      })
    | null;
}

/** An arm as docs/config.md describes it. */
export interface ArmInput<P extends Plugins = readonly []> extends ArmBase<P> {
  readonly name: string;
  readonly description?: string;
  /** The name of an arm before it in the list. */
  readonly extends?: string;
  /** The run file of another system, in the place of candidates and relevance; `k` documents of each query are read, 1000 by default. */
  readonly run?: string | { readonly file: string; readonly k?: number } | null;
  /** Path within the arm -> the values to try on dev. */
  readonly tune?: Readonly<Record<string, readonly unknown[]>>;
}

/** Metrics by name; any other id that `parseMetric` knows is accepted too. */
export type MetricName =
  | `${'mrr' | 'recall' | 'p' | 'map' | 'success' | 'ndcg' | 'ndcg_burges'}@${number}`
  | 'mrr'
  | 'map'
  | 'ndcg'
  | 'rprec'
  | 'bpref'
  | (string & Record<never, never>);

/** An experiment as a program writes it: the keys of a config file, with `data` for `dataset`, `encoder` for `embedding`, and the two parts of `evaluation` that every experiment sets at the top. */
export interface ExperimentInput<P extends Plugins = readonly []> {
  /** A dataset, or the options of one, as in a config. */
  readonly data: Dataset | DatasetInput | Added<'name', Names<P, 'datasets'>>;
  /** By default `lsa`. */
  readonly encoder?: EncoderInput | Added<'encoder', Names<P, 'encoders'>>;
  readonly arms: readonly ArmInput<P>[];
  /** The arm that the others are compared with; by default the first. */
  readonly baseline?: string;
  readonly metrics?: readonly MetricName[];
  readonly sweep?: Written<Config['sweep']>;
  /** Default options of every arm that extends no other arm. */
  readonly base?: ArmBase<P>;
  readonly controls?: Written<Config['controls']>;
  /** With how many seeds each arm is run; by default one. */
  readonly seeds?: number;
  /** Plugins whose members the other keys name: see `definePlugin`. */
  readonly plugins?: P;
  readonly only?: Written<Config['only']>;
  readonly scoring?: Written<Config['scoring']>;
  readonly tuning?: Written<Config['tuning']>;
  readonly evaluation?: Written<Omit<Config['evaluation'], 'metrics' | 'baseline'>>;
  /** Of the folder that `save` writes; by default `experiment`. */
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
    baseline = input.arms?.[0]?.name,
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
