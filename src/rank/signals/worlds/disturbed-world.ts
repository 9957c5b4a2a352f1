import type * as tf from '@tensorflow/tfjs-core';
import { createRandom, type Random } from '../../../core/numbers/random.ts';
import type { StartProgress } from '../../../core/terminal/progress.ts';
import type { EncoderOptions } from '../../../index/encoders/registry.ts';
import type { SliceAuthority } from '../../../kernel/signatures/slice-export.ts';
import type { SliceOptions, SliceTrust } from '../../../kernel/slices/slice-options.ts';
import type { QueryBatch } from '../../../model/candidates.ts';
import type { Query } from '../../../model/dataset.ts';
import type { TokenSource } from '../../../model/encoder.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import type { Encoding, Setting, StageUse, TextVectors, World } from '../signal.ts';
import type { CandidatePool } from '../stage.ts';
import type { Subcorpora } from '../subcorpus.ts';
import { type ControlKind, type ControlOptions, disturbs } from './world-parts.ts';

/** Some of the numbers below `size`, ascending; every set is equally likely (Floyd's algorithm). */
function drawSet(count: number, size: number, source: Random): number[] {
  const drawn = new Set<number>();
  for (let last = size - count; last < size; last++) {
    const number = source.integer(last + 1);
    drawn.add(drawn.has(number) ? last : number);
  }
  return [...drawn].sort((a, b) => a - b);
}

/**
 * The turns that a query could see without a slice: those before it, of the conversation that it asks. null: all before
 * it.
 */
function listAsked(corpus: Corpus, { conversationId, timestamp }: Query): Int32Array | null {
  if (conversationId === undefined) return null;
  const cutoff = corpus.countEarlierTurns(timestamp);
  const positions = Int32Array.from(corpus.getConversation(conversationId).turns, ({ id }) => corpus.getPosition(id));
  return positions.filter((position) => position < cutoff).sort();
}

/** Which `count` of `size` turns a control takes, ascending. */
type Take = (count: number, size: number, query: Query) => Iterable<number>;

function replaceSlices(
  slices: readonly Int32Array[],
  { queries, corpus }: Pick<Setting, 'queries' | 'corpus'>,
  take: Take,
): Int32Array[] {
  return slices.map((slice, i) => {
    const query = queries[i] as Query;
    const asked = listAsked(corpus, query);
    if (asked === null) return Int32Array.from(take(slice.length, corpus.countEarlierTurns(query.timestamp), query));
    const isAsked = new Set(asked);
    const count = slice.filter((position) => isAsked.has(position)).length;
    return Int32Array.from(take(count, asked.length, query), (at) => asked[at] as number);
  });
}

/** The slices that each control puts in place of the signed ones. */
const TAKES: Readonly<Partial<Record<ControlKind, (seed: number) => Take>>> = {
  'random-slices': (seed) => (count, size, query) =>
    drawSet(count, size, createRandom(seed, `random-slices/${query.id}`)),
  'newest-slices': () => (count, size) => Array.from({ length: count }, (_, i) => size - count + i),
};

/**
 * Null controls of slices: each query sees as many turns as its slice has, of all that it could see without a slice.
 * `random-slices` draws them, and so destroys which turns they are; `newest-slices` takes the newest, and so leaves of
 * a slice nothing but that it prefers what is new.
 *
 * @param slices [Q] positions, ascending.
 * @returns the slices themselves for a control of something else.
 */
export function disturbSlices(
  slices: readonly Int32Array[],
  setting: Pick<Setting, 'queries' | 'corpus' | 'control' | 'controlSeed'>,
): readonly Int32Array[] {
  const { control } = setting;
  const take = control === null ? undefined : TAKES[control.kind]?.(setting.controlSeed(control));
  return take === undefined ? slices : replaceSlices(slices, setting, take);
}

/** The world as it is, which a null control disturbs: a `Workspace`. */
export interface WholeWorld extends World {
  readonly shared: WholeWorld;
  readonly whole: WholeWorld;
  /** The same world under a control; null for itself. */
  under(control: ControlOptions | null): World;
  /** The result of a stage in this world or in a disturbed one. */
  getIn<R>(world: World, use: StageUse<R>, pool?: CandidatePool): Promise<R>;
}

/** A workspace's data in which a null control has destroyed something. */
export class DisturbedWorld implements World {
  readonly control: ControlOptions;
  readonly seed: number;
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly dimension: number;
  readonly batch: QueryBatch;
  readonly subcorpora: Subcorpora;
  readonly startProgress: StartProgress;
  readonly #workspace: WholeWorld;

  constructor(workspace: WholeWorld, control: ControlOptions) {
    this.#workspace = workspace;
    this.control = control;
    this.seed = workspace.seed;
    this.corpus = workspace.corpus;
    this.queries = workspace.queries;
    this.dimension = workspace.dimension;
    this.batch = workspace.batch;
    this.subcorpora = workspace.subcorpora;
    this.startProgress = workspace.startProgress;
  }

  get turnVectors(): Float32Array {
    return this.#workspace.turnVectors;
  }

  get shared(): World {
    return this.#workspace.shared.under(this.control);
  }

  get whole(): World {
    return this.#workspace.whole.under(this.control);
  }

  /** What reads nothing that the control destroys sees the world as it is. */
  get<R>(use: StageUse<R>, pool?: CandidatePool): Promise<R> {
    return disturbs(this.control.kind, use.reads)
      ? this.#workspace.getIn(this, use, pool)
      : this.#workspace.get(use, pool);
  }

  controlSeed(control: ControlOptions): number {
    return this.#workspace.controlSeed(control);
  }

  encoderIdentity(options: EncoderOptions): unknown {
    return this.#workspace.encoderIdentity(options);
  }

  findSliceTrust(slice: SliceOptions): SliceTrust {
    return this.#workspace.findSliceTrust(slice);
  }

  openSliceAuthority(slice: SliceOptions): Promise<SliceAuthority> {
    return this.#workspace.openSliceAuthority(slice);
  }

  keepOnce<T>(key: unknown, compute: () => Promise<T> | T): Promise<T> {
    return this.#workspace.keepOnce(key, compute);
  }

  findKeptParts<T>(key: unknown): WeakMap<object, T> | null {
    return this.#workspace.findKeptParts(key);
  }

  getCorpusTensor(): Promise<tf.Tensor2D> {
    return this.#workspace.getCorpusTensor();
  }

  embedWith(options: EncoderOptions | null): Promise<Encoding> {
    return this.#workspace.embedWith(options);
  }

  embedTexts(...given: Parameters<World['embedTexts']>): Promise<TextVectors> {
    return this.#workspace.embedTexts(...given);
  }

  openTokens(): Promise<TokenSource> {
    return this.#workspace.openTokens();
  }
}
