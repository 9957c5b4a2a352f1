import type * as tf from '@tensorflow/tfjs-core';
import type { z } from 'zod';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { Registry } from '../../core/validation/registry.ts';
import type { EncoderOptions } from '../../index/encoders/registry.ts';
import type { SliceAuthority } from '../../kernel/signatures/slice-export.ts';
import type { SliceOptions, SliceTrust } from '../../kernel/slices/slice-options.ts';
import type { QueryBatch } from '../../model/candidates.ts';
import type { Query } from '../../model/dataset.ts';
import type { TextOwner, TokenSource } from '../../model/encoder.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type CandidatePool, type Column, computeMissing, type Stage, type StageResult } from './stage.ts';
import type { Subcorpora } from './subcorpus.ts';
import type { ControlOptions, WorldPart } from './worlds/world-parts.ts';

/** What is known before anything is computed: enough for the key of every stage. */
export interface Setting {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  /** The null control that disturbs this world; null for the world as it is. */
  readonly control: ControlOptions | null;
  /** Of the experiment. */
  readonly seed: number;
  /** The seed of a control: its own, or the experiment's. */
  controlSeed(control: ControlOptions): number;
  /** Identity of another encoder than the experiment's own. */
  encoderIdentity(options: EncoderOptions): unknown;
  /** Whose slices are trusted. @throws AdmissibilityError if nobody's are. */
  findSliceTrust(slice: SliceOptions): SliceTrust;
}

/** The corpus and the queries as one encoder has them. */
export interface Encoding {
  readonly dimension: number;
  /** Row-major [N, D], unit rows. */
  readonly turnVectors: Float32Array;
  /** Row-major [Q, D], unit rows. */
  readonly queryVectors: Float32Array;
}

/** Vectors of texts: rows of D = `dimension` numbers. */
export interface TextVectors {
  readonly dimension: number;
  /** Row-major [texts, D], unit rows. */
  readonly vectors: Float32Array;
}

/** What signals are computed from. A null control is another world with the same data. */
export interface World extends Setting {
  /** D */
  readonly dimension: number;
  /** Row-major [N, D], unit rows. */
  readonly turnVectors: Float32Array;
  readonly batch: QueryBatch;
  readonly subcorpora: Subcorpora;
  readonly startProgress: StartProgress;
  /** The world that keeps what does not depend on the queries: this one, or the one whose turns these queries ask. */
  readonly shared: World;
  /** The world that keeps what depends on all queries: this one, or the one whose queries these are a part of. */
  readonly whole: World;
  /** [N, D] on the device. */
  getCorpusTensor(): Promise<tf.Tensor2D>;
  /** Turns and queries by an encoder, null for the experiment's own; each is embedded at most once. */
  embedWith(options: EncoderOptions | null): Promise<Encoding>;
  /**
   * Texts that are neither turns nor queries, by the experiment's encoder.
   *
   * @param owners [texts] the turn that each text is from.
   */
  embedTexts(texts: readonly string[], owners: readonly TextOwner[]): Promise<TextVectors>;
  /** The vectors of tokens by the experiment's encoder, kept until the world is disposed. */
  openTokens(): Promise<TokenSource>;
  /** The kernel that signs slices. @throws AdmissibilityError where there is none. */
  openSliceAuthority(slice: SliceOptions): Promise<SliceAuthority>;
  /**
   * Computes what cannot be stored, such as tensors and indexes, once for each key, and keeps it until the world is
   * disposed; disposes it then, where it can be.
   */
  keepOnce<T>(key: unknown, compute: () => Promise<T> | T): Promise<T>;
  /**
   * Where turns come and go, the results of turns or conversations by themselves, those of a corpus before too: kept for
   * as long as there is the turn or the conversation. null where the turns stay.
   */
  findKeptParts<T>(key: unknown): WeakMap<Turn | Conversation, T> | null;
  /**
   * The result of a stage, computed at most once for each key; stages of pairs need the pool.
   *
   * @param planned the stage, where the plan of this world has made it already. A disturbed world makes its own.
   */
  get<R>(use: StageUse<R>, pool?: CandidatePool, planned?: Stage): Promise<R>;
}

/** A stage with its options: what it is called, what its key consists of, and how it is computed. */
export interface StageUse<R> {
  readonly name: string;
  /** URL of the module that defines the stage: its key covers the code that the module can reach. */
  readonly module: string;
  readonly version: number;
  /** What there is a result for: the turns of the corpus, the queries, or the pairs of a pool. */
  readonly of: 'turns' | 'queries' | 'pairs';
  /** True if the result is kept on disk. */
  readonly isKept: boolean;
  /** True if all subsets of the queries share one result. */
  readonly isShared: boolean;
  /** The parts of the world that the result depends on, those of its inputs included. */
  readonly reads: readonly WorldPart[];
  key(setting: Setting): unknown;
  inputs(setting: Setting): Readonly<Record<string, StageUse<unknown>>>;
  compute(world: World, pool: CandidatePool | undefined, inputs: Readonly<Record<string, unknown>>): Promise<R> | R;
}

/** Results of turns or conversations by themselves, kept by the world, or beyond it where turns come and go. */
export async function keepParts<T>(world: World, key: unknown): Promise<WeakMap<Turn | Conversation, T>> {
  return world.findKeptParts<T>(key) ?? world.keepOnce(['parts', key], () => new WeakMap());
}

/**
 * Something of each turn by itself; where turns come after the others, it is computed of these alone, and where turns
 * come and go, once for a turn.
 *
 * @param start an empty list.
 * @param compute [turns] the results of some turns.
 * @returns [N] the list, in which the results of later turns come after these.
 */
export function computeEach<T, L extends { readonly length: number; push(result: T): unknown }>(
  world: World,
  key: unknown,
  start: () => L,
  compute: (turns: readonly Turn[]) => Promise<readonly T[]>,
): Promise<L> {
  const kept = world.findKeptParts<T>(key);
  const add = async (list: L) => {
    const turns = world.corpus.turns.slice(list.length);
    for (const result of await (kept === null ? compute(turns) : computeMissing(kept, turns, compute)))
      list.push(result);
    return list;
  };
  return world.subcorpora.whole.keepOnce(['each', key], () => add(start()), add);
}

type Uses = Readonly<Record<string, StageUse<unknown>>>;
type Results<I extends Uses> = { readonly [Name in keyof I]: I[Name] extends StageUse<infer R> ? R : never };

/** Describes a stage once: everything else, from its key to its place in a plan, follows from here. */
export interface StageDefinition<O, R, I extends Uses> {
  /** Lower-case words joined by hyphens. */
  readonly name: string | ((options: O) => string);
  /** `import.meta.url` */
  readonly module: string;
  /** Raised when the result changes in a way that the code does not show, such as another meaning of a package's output. */
  readonly version?: number;
  readonly of: StageUse<R>['of'];
  /** Default true. False where computing takes less time than a file. */
  readonly isKept?: boolean;
  /** Default: whether the stage is one of turns. */
  readonly isShared?: boolean;
  readonly reads: readonly WorldPart[] | ((options: O) => readonly WorldPart[]);
  /** The part of the options that the result depends on; all of them where it is left out. */
  readonly key?: (options: O, setting: Setting) => unknown;
  readonly inputs?: (options: O, setting: Setting) => I;
  readonly compute: (
    work: { readonly world: World; readonly pool: CandidatePool; readonly inputs: Results<I> },
    options: O,
  ) => Promise<R> | R;
}

/** @returns the stage with options, to be asked of a {@link World} or planned. */
export function defineStage<O, R extends StageResult<R>, I extends Uses = Record<never, never>>(
  definition: StageDefinition<O, R, I>,
): (options: O) => StageUse<R> {
  const { name, module, version = 1, of, isKept = true, isShared = of === 'turns', reads } = definition;
  return (options) => ({
    name: typeof name === 'string' ? name : name(options),
    module,
    version,
    of,
    isKept,
    isShared,
    reads: typeof reads === 'function' ? reads(options) : reads,
    key: (setting) => (definition.key === undefined ? options : definition.key(options, setting)),
    inputs: (setting) => definition.inputs?.(options, setting) ?? {},
    compute: (world, pool, inputs) =>
      definition.compute({ world, pool: pool as CandidatePool, inputs: inputs as Results<I> }, options),
  });
}

/** A column over [queries, candidates] that scores the candidates of a pool. */
export type Signal = StageUse<Column>;

/** What a signal has besides a stage of pairs. */
interface SignalDefinition<O, I extends Uses> extends Omit<StageDefinition<O, Column, I>, 'of' | 'isShared'> {
  readonly name: string;
  /** The row of docs/signals.md. */
  readonly summary: string;
}

/** A signal that options are still to be given to. */
export interface SignalOf<O> {
  (options: O): Signal;
  readonly definition: Pick<SignalDefinition<O, Uses>, 'name' | 'summary' | 'version'>;
}

/** Describes a signal: a stage of pairs whose result is a {@link Column}. */
export function defineSignal<O, I extends Uses = Record<never, never>>(
  definition: SignalDefinition<O, I>,
): SignalOf<O> {
  const { name, summary, version = 1 } = definition;
  return Object.assign(defineStage<O, Column, I>({ ...definition, of: 'pairs' }), {
    definition: { name, summary, version },
  });
}

/** A signal that a plugin adds to those of relevance and of banks. */
export interface AddedSignal {
  readonly name: string;
  /** One line for people. */
  readonly summary: string;
  /** Unknown keys are refused. */
  readonly options: z.ZodObject;
  /** The indexes whose lists are the signal's own, for fusions of lists. */
  readonly indexes: readonly string[];
  /** @param given that the schema of the options lets through. */
  create(given: Readonly<Record<string, unknown>>): Signal;
  /** @throws PluginError for a score below 0, where the score itself is decayed or summed. */
  assertNotNegative(column: Column): void;
}

/** The signals of the plugins of this process. */
export const ADDED_SIGNALS = new Registry<string, AddedSignal>([]);
