import type { z } from 'zod';
import type { IndexInput, IndexOptions } from '../../../index/registry.ts';
import type { sliceOptions } from '../../../kernel/slices/slice-options.ts';
import type { Filter } from '../../../model/filter/filter.ts';
import type { PROPAGATION_PRESETS, propagationOptions } from '../../../ops/attention/options.ts';
import type { fitOptions } from '../../learning/fit-options.ts';
import type { selectionOptions } from '../../rerank/registry.ts';
import type { scoringOptions } from '../../signals/bank/options.ts';
import type { boostOptions } from '../../signals/boost.ts';
import type { decayOptions } from '../../signals/decay.ts';
import type {
  attentionOptions,
  curationArmOptions,
  strategyOptions,
  trajectoryOptions,
} from '../../signals/signal-options.ts';
import type { PoolFusionOptions } from './fuse.ts';
import type { packOptions } from './select.ts';

/** Options as a program writes them: constants too. */
export type Written<T> = T extends readonly (infer Item)[]
  ? readonly Written<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Written<T[Key]> }
    : T;

type Mapping<T = unknown> = Readonly<Record<string, T>>;
type Input<S extends z.ZodType> = Written<z.input<S>>;

/** Carries, for the compiler alone, the names in a step that only a plugin can know. */
declare const ADDED: unique symbol;

/** One step as a config writes it: its name with its options. */
export type PlainStep<Name extends string, Options, Added extends string = never> = {
  readonly [Key in Name]: Options;
} & { readonly [ADDED]?: Added };

/** The names of the members of plugins that a step may use. */
export interface AddedNames {
  readonly indexes: string;
  readonly signals: string;
  readonly fusions: string;
  readonly steps: string;
}

type IndexName = IndexOptions['index'];
/** Of a run file, which an experiment names as `file`, relative to its config or to the working directory. */
type RunFile = { readonly [Key in 'file' | 'path']?: string };
type IndexOptionsOf<Name extends IndexName> = Omit<
  Written<Extract<IndexInput, { index: Name }>>,
  'index' | (Name extends 'run' ? 'path' : never)
> & { readonly index?: Name } & (Name extends 'run' ? RunFile : unknown);

/** What `Wanted` has, and nothing else. */
type Exact<Given, Wanted> = Wanted & { readonly [Key in Exclude<keyof Given, keyof Wanted>]: never };

/** The index of a source: the one it names, or else that of its own name. */
type IndexOf<Name, Source> = Source extends { readonly index: infer Index } ? Index : Name;
type CheckedSources<Sources> = {
  readonly [Name in keyof Sources]: IndexOf<Name, Sources[Name]> extends infer Index
    ? Index extends IndexName
      ? Exact<Sources[Name], IndexOptionsOf<Index>>
      : Mapping
    : never;
};
type AddedIndexes<Sources> = {
  [Name in keyof Sources & string]: Exclude<IndexOf<Name, Sources[Name]> & string, IndexName>;
}[keyof Sources & string];

/**
 * The pool is what the named sources find, each with a column of scores by its name.
 *
 * @param sources by name; a source whose name is no index names its `index`.
 */
export function search<const Sources extends Mapping<object>>(
  sources: Sources & CheckedSources<Sources> & { readonly [Name in IndexName]?: object },
): PlainStep<'search', Sources, AddedIndexes<Sources>> {
  return { search: sources };
}

/**
 * Keeps the turns that an expression accepts: before `search`, its sources see no others; after it, others leave the
 * pool.
 */
export function filter(where: string | Filter): PlainStep<'filter', string | Filter> {
  return { filter: where };
}

type SliceInput = Input<typeof sliceOptions>;
type WrittenSlice = Omit<SliceInput, 'policy'> & { readonly policy: SliceInput['policy'] | string };

/**
 * Queries see the turns that a kernel signs for them.
 *
 * @param options of which `policy` may be a file, in an experiment.
 */
export function slice(options: WrittenSlice): PlainStep<'slice', WrittenSlice> {
  return { slice: options };
}

type Propagation = keyof typeof PROPAGATION_PRESETS | Input<typeof propagationOptions>;

/** Mixes each turn's vector with those of its conversation, for the index `flat`. */
export function propagate(options: Propagation): PlainStep<'propagate', Propagation> {
  return { propagate: options };
}

interface KnownScores {
  readonly cosine?: Readonly<Record<string, never>>;
  readonly strategy?: Omit<Input<typeof strategyOptions>, 'users'> & {
    /** By user, or the file of a fit, in an experiment. */
    readonly users?: Input<typeof strategyOptions>['users'] | string;
  };
}

/** Adds columns that are no source: `cosine`, `strategy`, or of a plugin. */
export function score<const Signals extends Mapping<object>>(
  signals: Signals & KnownScores,
): PlainStep<'score', Signals, Exclude<keyof Signals & string, keyof KnownScores>> {
  return { score: signals };
}

type FusionMethod = PoolFusionOptions['method'];
/** Weights of columns, and options of the method. */
type FusionContent = Mapping<number | string | boolean>;
type KnownFusions = { readonly [Method in FusionMethod]?: FusionContent } & { readonly only?: string };
type FusionName<Fusion> = Fusion extends string ? Fusion : keyof Fusion & string;

/**
 * One score of several columns.
 *
 * @param fusion a method; a method with the weights of columns by their names and its options; or `only` with one
 *   column.
 */
export function fuse<const Fusion extends FusionMethod | (string & {}) | Mapping<object | string>>(
  fusion: Fusion & (string | KnownFusions),
): PlainStep<'fuse', Fusion, Exclude<FusionName<Fusion>, FusionMethod | 'only'>> {
  return { fuse: fusion };
}

type MixInput = Input<typeof scoringOptions>;
type FitInput = Input<typeof fitOptions>;
type Mix =
  | string
  | (Omit<MixInput, 'weights'> & { readonly weights: MixInput['weights'] | string })
  | (Pick<MixInput, 'signals'> & {
      readonly fit: Omit<FitInput, 'folds'> & { readonly folds?: FitInput['folds'] | string };
    });

/**
 * The weighted sum of signals of the bank.
 *
 * @param options `signals` and `weights`, or the weight file that has both, or how they are fitted, in an experiment.
 */
export function mix(options: Mix): PlainStep<'mix', Mix> {
  return { mix: options };
}

type Boosts = Input<typeof boostOptions>;

/** Multiplies scores by 1 + factor x attribute of each boost. */
export function boost(boosts: Boosts): PlainStep<'boost', Boosts> {
  return { boost: boosts };
}

type Curation = Input<typeof curationArmOptions>;

/** Multiplies scores by what curation, by rules or by facts, leaves of a turn. */
export function curate(options: Curation): PlainStep<'curate', Curation> {
  return { curate: options };
}

type Decay = number | Input<typeof decayOptions>;

/** Halves scores for each half-life of age. @param options the half-life in hours, or `halfLifeHours`. */
export function decay(options: Decay): PlainStep<'decay', Decay> {
  return { decay: options };
}

type Trajectory = Input<typeof trajectoryOptions>;
type WrittenTrajectory = Omit<Trajectory, 'weights'> & { readonly weights?: Trajectory['weights'] | string };
type Attention = Omit<Input<typeof attentionOptions>, 'mechanism'> & { readonly coordinates?: Trajectory };
type Mechanism = z.output<typeof attentionOptions>['mechanism'];
/** A number is the weight. */
type Blends = { readonly trajectory?: number | WrittenTrajectory } & {
  readonly [Name in Mechanism]?: number | Attention;
};

/**
 * (1 - weight) x scores + weight x `trajectory`, `rcp`, `ircp`, `tpo` or `unified`, in the order in which they are
 * written.
 */
export function blend(blends: Blends): PlainStep<'blend', Blends> {
  return { blend: blends };
}

type SelectionMethod = z.output<typeof selectionOptions>['method'];
type Reranking = 'node-distance' | 'mentions' | 'cross-encoder' | 'late';
type SelectionOf<Method extends SelectionMethod> = Omit<
  Extract<Input<typeof selectionOptions>, { readonly method: Method }>,
  'method'
>;
type Choice<Method extends SelectionMethod> = Method | { readonly [Name in Method]?: SelectionOf<Name> };

/** Orders the best K again by `node-distance`, `mentions`, `cross-encoder` or `late`. */
export function rerank(choice: Choice<Reranking>): PlainStep<'rerank', Choice<Reranking>> {
  return { rerank: choice };
}

type Selecting = Exclude<SelectionMethod, Reranking>;

/** Takes the best K by `mmr` or `diversity-filter`. */
export function select(choice: Choice<Selecting>): PlainStep<'select', Choice<Selecting>> {
  return { select: choice };
}

type Pack = number | Input<typeof packOptions>;

/**
 * Keeps the best turns whose texts fit a budget of tokens.
 *
 * @param options the budget, or `tokens` with other options.
 */
export function pack(options: Pack): PlainStep<'pack', Pack> {
  return { pack: options };
}

/** One step of a plugin with its options. */
type AddedStep<Name extends string> = Name extends string ? { readonly [Key in Name]: object } : never;

/**
 * A step of an arm as a program writes it: what one of the functions gives, or the same plain object, with a name of
 * its own as `as` where a step of its kind stands twice, and a reason as `unchanged` where it may change no query.
 */
export type StepInput<Names extends AddedNames = AddedNames> = { readonly as?: string; readonly unchanged?: string } & (
  | PlainStep<'search', Mapping<object>, Names['indexes']>
  | PlainStep<'score', Mapping<object>, Names['signals']>
  | PlainStep<'fuse', string | Mapping<object | string>, Names['fusions']>
  | ReturnType<typeof filter | typeof slice | typeof propagate | typeof mix | typeof boost | typeof curate>
  | ReturnType<typeof decay | typeof blend | typeof rerank | typeof select | typeof pack>
  | AddedStep<Names['steps']>
);
