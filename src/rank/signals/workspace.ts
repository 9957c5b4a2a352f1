import * as tf from '@tensorflow/tfjs-core';
import { DimensionMismatchError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { hasActiveBackend } from '../../core/tensors/active-backend.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { assertUnitRows } from '../../index/candidates/query-batch.ts';
import type { EncoderOptions } from '../../index/encoders/registry.ts';
import type { SliceAuthority } from '../../kernel/signatures/slice-export.ts';
import type { SliceOptions, SliceSource, SliceTrust } from '../../kernel/slices/slice-options.ts';
import type { QueryBatch } from '../../model/candidates.ts';
import type { Query } from '../../model/dataset.ts';
import type { TokenSource } from '../../model/encoder.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { Plan, requireSlices, type WorkspaceIdentity } from './plan.ts';
import type { Encoding, StageUse, TextVectors, World } from './signal.ts';
import {
  type CandidatePool,
  KEEPS_NOTHING,
  type PartResults,
  Resources,
  type Stage,
  type StageCounts,
  type StageResult,
  StageResults,
  type StageStore,
} from './stage.ts';
import { listAskedConversations, Subcorpora } from './subcorpus.ts';
import { DisturbedWorld } from './worlds/disturbed-world.ts';
import type { ControlOptions } from './worlds/world-parts.ts';

/**
 * Checked here, since to a fusion NaN means that a source did not find the candidate.
 *
 * @param first the rows before this one are known to be right.
 */
function assertVectors(
  what: string,
  owners: readonly { readonly id: string }[],
  vectors: Float32Array,
  dimension: number,
  first = 0,
): void {
  if (vectors.length !== owners.length * dimension)
    throw new DimensionMismatchError(`numbers in the ${what} vectors`, owners.length * dimension, vectors.length);
  assertUnitRows(vectors.subarray(first * dimension), dimension, (row) => `${what} ${owners[first + row]?.id}`);
}

/** The number of first turns of a workspace that an earlier one has checked, whose vectors are the same. */
function countChecked(before: Workspace | undefined, corpus: Corpus): number {
  return before !== undefined && corpus.startsWith(before.corpus) ? before.corpus.size : 0;
}

/**
 * What a {@link Workspace} is made of: N turns and Q queries with their vectors of D = `dimension` numbers, a seed, and
 * optionally further encoders and a store of results.
 */
export interface WorkspaceInputs {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  /** Row-major [N, D], unit rows; null where no arm compares vectors, which are an error to read then. */
  readonly turnVectors: Float32Array | null;
  /** Row-major [Q, D], unit rows. */
  readonly queryVectors: Float32Array;
  readonly dimension: number;
  readonly seed: number;
  readonly progress?: StartProgress;
  /** Embeds turns and queries with another encoder than that of the vectors; without it there is none. */
  readonly encode?: (options: EncoderOptions) => Promise<Encoding>;
  /** Embeds other texts with the encoder of the vectors; without it there are none. */
  readonly encodeTexts?: World['embedTexts'];
  /** Opens the vectors of tokens by the encoder of the vectors; without it there are none. */
  readonly openTokens?: () => Promise<TokenSource>;
  /** Where slices come from; without it there are none. */
  readonly slices?: SliceSource;
  /**
   * A workspace of an earlier state of the corpus, to be disposed after: what it made of turns that are the same is taken
   * from it. These turns have the same vectors here.
   */
  readonly before?: Workspace;
  /**
   * Keeps what is computed of turns and conversations by themselves beyond this workspace; without it each workspace
   * computes it.
   */
  readonly partResults?: PartResults;
  /**
   * Where results are kept for other workspaces, and what distinguishes theirs from ours; without it they stay in
   * memory.
   */
  readonly stages?: { readonly store: StageStore; readonly identity: WorkspaceIdentity };
}

type Uses = [name: string, input: StageUse<unknown>][];

/** Enough where keys are compared with those of the same workspace alone. */
const NOBODY: WorkspaceIdentity = { code: '', data: '', encoder: {} };

/**
 * What the arms of one experiment share: corpus and queries on the device, and every intermediate result by the key of
 * its stage, so that arms which differ in one step compute only that step. Owns tensors and indexes; throws after
 * `dispose()`.
 */
export class Workspace implements World {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly dimension: number;
  readonly batch: Required<Pick<QueryBatch, 'ids'>> & QueryBatch;
  readonly subcorpora: Subcorpora;
  readonly control = null;
  readonly seed: number;
  readonly startProgress: StartProgress;
  /** The stages that can be asked for. */
  readonly plan: Plan;
  /** This one, unless it was made {@link asking}. */
  readonly shared: Workspace;
  /** This one, unless it was made {@link withQueries}. */
  readonly whole: Workspace;
  readonly #inputs: Omit<WorkspaceInputs, 'before'>;
  readonly #results: StageResults;
  readonly #partResults: PartResults | undefined;
  readonly #resources = new Resources();

  /**
   * @param shared over the same corpus, see {@link asking}.
   * @param whole with these queries and others, see {@link withQueries}.
   * @throws DimensionMismatchError, NotFiniteError, ValidationError for vectors that do not fit, naming the turn or
   *   query.
   */
  constructor(inputs: WorkspaceInputs, shared?: Workspace, whole?: Workspace) {
    const { before, ...kept } = inputs; // else each would hold the one before it
    const { corpus, queries, turnVectors, queryVectors, dimension } = kept;
    if (shared === undefined && turnVectors !== null)
      assertVectors('turn', corpus.turns, turnVectors, dimension, countChecked(before, corpus));
    assertVectors('query', queries, queryVectors, dimension);
    this.corpus = corpus;
    this.queries = queries;
    this.dimension = dimension;
    this.#inputs = kept;
    this.batch = {
      ids: queries.map(({ id }) => id),
      texts: queries.map(({ text }) => text),
      vectors: queryVectors,
      cutoffs: Int32Array.from(queries, ({ timestamp }) => corpus.countEarlierTurns(timestamp)),
      conversations: listAskedConversations(corpus, queries),
    };
    this.subcorpora = shared?.subcorpora ?? before?.subcorpora.moveTo(corpus) ?? new Subcorpora(corpus);
    this.#partResults = shared === undefined ? inputs.partResults : shared.#partResults;
    this.seed = inputs.seed;
    this.startProgress = inputs.progress ?? ignoreProgress;
    this.shared = shared ?? this;
    this.whole = whole ?? this;
    this.plan = new Plan({ ...inputs, identity: inputs.stages?.identity ?? NOBODY });
    this.#results = new StageResults(inputs.stages?.store ?? KEEPS_NOTHING);
  }

  get turnVectors(): Float32Array {
    if (this.#inputs.turnVectors !== null) return this.#inputs.turnVectors;
    throw new UnavailableError('the vectors of turns', 'no arm of the experiment compares vectors; add one that does');
  }

  /**
   * A workspace of some of these queries by themselves, as {@link asking}; propagated rows and slices are this one's
   * too.
   *
   * @param indexes in `queries`.
   */
  withQueries(indexes: readonly number[]): Workspace {
    const encode = async (options: EncoderOptions) => {
      const all = await this.embedWith(options);
      return { ...all, queryVectors: gatherRows(all.queryVectors, all.dimension, indexes) };
    };
    const queries = indexes.map((index) => this.queries[index] as Query);
    const queryVectors = gatherRows(this.batch.vectors, this.dimension, indexes);
    return this.asking({ queries, queryVectors, encode }, this.whole);
  }

  /**
   * A workspace of other queries about the same turns: what it computes for them stays in memory, and what does not
   * depend on queries (the corpus on the device, indexes, tables of coordinates) is this one's. To be disposed before
   * this one.
   *
   * @param own with a corpus that has the same turns with other attributes, filters and stages of pairs read these;
   *   indexes and stages of turns read the attributes here.
   */
  asking(
    own: Pick<WorkspaceInputs, 'queries' | 'queryVectors' | 'encode'> & Partial<Pick<WorkspaceInputs, 'corpus'>>,
    whole?: Workspace,
  ): Workspace {
    const { turnVectors, slices } = this.#inputs;
    const { corpus, dimension, seed } = this;
    const inputs = { corpus, ...own, turnVectors, dimension, seed, ...(slices && { slices }) };
    return new Workspace(inputs, this.shared, whole);
  }

  /** The same data in the world of a null control. */
  under(control: ControlOptions | null): World {
    return control === null ? this : new DisturbedWorld(this, control);
  }

  controlSeed(control: ControlOptions): number {
    return this.plan.controlSeed(control);
  }

  encoderIdentity(options: EncoderOptions): unknown {
    return this.plan.encoderIdentity(options);
  }

  findSliceTrust(slice: SliceOptions): SliceTrust {
    return this.plan.findSliceTrust(slice);
  }

  async openSliceAuthority(slice: SliceOptions): Promise<SliceAuthority> {
    return requireSlices(this.#inputs.slices).openAuthority(slice);
  }

  get<R>(use: StageUse<R>, pool?: CandidatePool, planned?: Stage): Promise<R> {
    return this.getIn(this, use, pool, planned);
  }

  /** The result of a stage in this world or in a disturbed one. @param planned as in {@link World.get}. */
  async getIn<R>(world: World, use: StageUse<R>, pool?: CandidatePool, planned?: Stage): Promise<R> {
    if (use.of === 'pairs' && pool === undefined)
      throw new ValidationError(`stage of pairs without a pool: ${use.name}; pass the pool of candidates`);
    if (!hasActiveBackend()) await ensureBackend(); // it is part of the key
    const owner = use.of === 'turns' ? this.shared : this.whole;
    if (use.isShared && owner !== this) return owner.under(world.control).get(use, pool);
    const stage = planned ?? this.plan.under(world.control).stage(use, pool?.stage);
    return this.runStage(stage as Stage, async () => {
      const [inputs, uses]: [Record<string, unknown>, Uses] = [{}, Object.entries(use.inputs(world))];
      for (const [i, [name, input]] of uses.entries())
        inputs[name] = await world.get(input, pool, stage.inputs.at(i - uses.length)); // the pool's stage is the first
      return (await use.compute(world, pool, inputs)) as StageResult<R> & R;
    }) as Promise<R>;
  }

  /**
   * The result of a stage: from memory, from the store, or computed.
   *
   * @throws ValidationError after `dispose()`, also where that comes before the computation has begun.
   */
  async runStage<T extends StageResult<T>>(stage: Stage, compute: () => Promise<T> | T): Promise<T> {
    this.#resources.assertAlive(stage.name);
    return this.#results.run(stage, () => {
      this.#resources.assertAlive(stage.name);
      return compute();
    });
  }

  /** Counts of the executions of each stage and of what memory and store had, since this was last asked. */
  takeStageCounts(): StageCounts {
    return this.#results.takeStageCounts();
  }

  /** @throws ValidationError after `dispose()`. */
  keepOnce<T>(key: unknown, compute: () => Promise<T> | T): Promise<T> {
    return this.#resources.keepOnce(key, compute);
  }

  findKeptParts<T>(key: unknown): WeakMap<Turn | Conversation, T> | null {
    return this.#partResults?.of<T>(key) ?? null;
  }

  getCorpusTensor(): Promise<tf.Tensor2D> {
    const { shared } = this;
    return shared.keepOnce('corpus tensor', async () => {
      await ensureBackend();
      return tf.tensor2d(this.turnVectors, [this.corpus.size, this.dimension]);
    });
  }

  /**
   * @throws UnavailableError where the workspace knows no other encoder.
   * @throws DimensionMismatchError, NotFiniteError, ValidationError for vectors that do not fit, naming the turn or
   *   query.
   */
  async embedWith(options: EncoderOptions | null): Promise<Encoding> {
    const { dimension, turnVectors, batch } = this;
    if (options === null) return { dimension, turnVectors, queryVectors: batch.vectors };
    const encode = this.#inputs.encode;
    if (encode === undefined)
      throw new UnavailableError(
        `encoder ${options.encoder}`,
        'the workspace cannot embed texts; open it with the input encode',
      );
    return this.keepOnce(['encoding', options], async () => {
      const encoding = await encode(options);
      assertVectors('turn', this.corpus.turns, encoding.turnVectors, encoding.dimension);
      assertVectors('query', this.queries, encoding.queryVectors, encoding.dimension);
      return encoding;
    });
  }

  /** @throws UnavailableError where the workspace cannot embed texts; what the encoder throws. */
  async embedTexts(...[texts, owners]: Parameters<World['embedTexts']>): Promise<TextVectors> {
    if (this.#inputs.encodeTexts === undefined)
      throw new UnavailableError('the encoder', 'the workspace cannot embed texts; open it with the input encodeTexts');
    return this.#inputs.encodeTexts(texts, owners);
  }

  /** @throws UnavailableError where the workspace has no vectors of tokens, or its encoder has none. */
  openTokens(): Promise<TokenSource> {
    const { shared } = this;
    if (shared !== this) return shared.openTokens();
    const open = this.#inputs.openTokens;
    if (open === undefined)
      throw new UnavailableError(
        'the vectors of tokens',
        'the workspace cannot encode texts; open it with the input openTokens',
      );
    return this.keepOnce('tokens', open);
  }

  dispose(): void {
    if (this.shared === this) this.subcorpora.dispose();
    this.#resources.dispose();
    this.#results.clear();
  }
}
