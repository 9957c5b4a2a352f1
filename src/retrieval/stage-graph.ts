import type { PropagationOptions } from '../attention/options.ts';
import type { IndexOptions } from '../candidates/registry.ts';
import { activeBackend } from '../core/backend.ts';
import { hashOf } from '../core/hash.ts';
import type { EncoderOptions } from '../embedding/registry.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import type { SignalBankOptions } from '../signals/bank/options.ts';
import { ATTENTIONS, TRAJECTORIES } from '../signals/bank/structure-options.ts';
import { forwardWidth } from '../signals/forward-cosines.ts';
import type { Stage } from '../signals/stage.ts';
import type { ControlOptions } from '../signals/worlds/control-options.ts';
import { movesFrames, onAttention, onCoordinates, onOrder } from '../signals/worlds/null-controls.ts';
import { fusesLists, type RelevanceSignal } from './relevance-fusion.ts';
import {
  type AttentionOptions,
  type Bm25IndexOptions,
  type RetrieverOptions,
  TRAJECTORY_DEFAULTS,
  type TrajectoryOptions,
} from './retriever-options.ts';

/** What a workspace cannot tell of itself, and its stages depend on. */
export interface WorkspaceIdentity {
  /** Version of the code and of the packages that it computes with. */
  readonly code: string;
  /** Of the dataset's content. */
  readonly data: string;
  /** Of the encoder: its options, what it was fitted on, where it computes. */
  readonly encoder: Readonly<Record<string, unknown>>;
  /** Of any other encoder that it may be asked to embed with. */
  readonly encoderOf?: (options: EncoderOptions) => Readonly<Record<string, unknown>>;
}

/** What stages are made from besides other stages. */
export interface StageRoots {
  readonly identity: WorkspaceIdentity;
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly seed: number;
}

/** Stages that take less than 10 ms to make of their inputs, a few times what a file takes to write and to read, so that they are not kept. Measured in docs/cache.md. */
export const MEMORY_ONLY: ReadonlySet<string> = new Set(['candidates-newest', 'controlled-frames']);

/** Whether the stage is that of a directed IRCP, which alone looks forward. Reversing the positions leaves every ring distance as it is, so the literal one is RCP. */
export function looksForward({ mechanism, mode }: AttentionOptions): boolean {
  return mode === 'directed' && (mechanism === 'ircp' || mechanism === 'unified');
}

/** The options of the bm25 source, which score its signal too. */
export function bm25Options({ candidates }: RetrieverOptions): Bm25IndexOptions {
  return candidates.find(({ index }) => index === 'bm25') as Bm25IndexOptions; // the options' schema asks for one
}

/**
 * The stages of a workspace by their options, with the keys that their results are kept under. Nothing is computed for a key, so a plan can be made of what has
 * never run.
 */
export class StageGraph {
  readonly #corpus: Corpus;
  readonly #base: string;
  readonly #turns: string;
  readonly #queries: string;
  readonly #encoder: string;
  readonly #seed: number;
  readonly #encoderOf: WorkspaceIdentity['encoderOf'];
  /** By name, inputs and options as they are written: a look-up costs a tenth of a hash, and a plan asks for the same stages thousands of times. */
  readonly #known = new Map<string, Stage>();

  /** The active backend is part of every key. */
  constructor({ identity: { code, data, encoder, encoderOf }, corpus, queries, seed }: StageRoots) {
    this.#corpus = corpus;
    this.#base = hashOf([code, activeBackend()]);
    this.#turns = hashOf(['turns', data]);
    this.#queries = hashOf(['queries', data, queries.map(({ id, split }) => [id, split])]);
    this.#encoder = hashOf(['encoder', encoder]);
    this.#seed = seed;
    this.#encoderOf = encoderOf;
  }

  #stage(name: string, options: unknown, roots: readonly string[], inputs: readonly Stage[] = []): Stage {
    const keys = inputs.map((input) => input.key);
    const written = `${name} ${keys.join(' ')} ${JSON.stringify(options)}`;
    const known = this.#known.get(written);
    if (known !== undefined) return known;
    const stage = { name, key: hashOf([name, options, this.#base, this.#turns, roots, keys]), inputs };
    this.#known.set(written, stage);
    return stage;
  }

  /** A result of other stages that has its own name, such as a figure of a ranking; keyed by all that the workspace consists of. */
  derived(name: string, options: unknown, inputs: readonly Stage[]): Stage {
    return this.#stage(name, [options, this.#seed], [this.#queries, this.#encoder], inputs);
  }

  /** What a control is drawn by. */
  seedOf({ seed }: ControlOptions): number {
    return seed ?? this.#seed;
  }

  /** Of the stages that a control changes; of the others it is no part. */
  #drawn(control: ControlOptions | null): readonly unknown[] {
    return control === null ? [] : [control.kind, this.seedOf(control)];
  }

  turnComponents(): Stage {
    return this.#stage('turn-components', null, []);
  }

  queryComponents(): Stage {
    return this.#stage('query-components', null, [this.#queries]);
  }

  propagated(options: PropagationOptions, control: ControlOptions | null = null): Stage {
    const drawn = this.#drawn(onOrder(control));
    return this.#stage('propagated', [options, ...drawn], [this.#queries, this.#encoder]);
  }

  /** Of propagated rows where there are options for them and the index knows such rows. */
  candidates(
    options: IndexOptions,
    propagation: PropagationOptions | null,
    control: ControlOptions | null = null,
  ): Stage {
    const name = `candidates-${options.index}`;
    switch (options.index) {
      case 'bm25':
      case 'newest':
        return this.#stage(name, options, [this.#queries]);
      case 'hnsw':
        return this.#stage(name, [options, this.#seed], [this.#queries, this.#encoder]);
      case 'flat': {
        const rows = propagation === null ? [] : [this.propagated(propagation, control)];
        return this.#stage(name, options, [this.#queries, this.#encoder], rows);
      }
    }
  }

  pool({ candidates, propagation, sameChannel, control }: RetrieverOptions): Stage {
    const sources = candidates.map((options) => this.candidates(options, propagation, control));
    return this.#stage('pool', { sameChannel }, [this.#queries], sources);
  }

  bm25(pool: Stage, { k: _, ...scoring }: Bm25IndexOptions): Stage {
    return this.#stage('bm25', scoring, [this.#queries], [pool]);
  }

  cosine(pool: Stage, propagation: PropagationOptions | null, control: ControlOptions | null = null): Stage {
    const rows = propagation === null ? [] : [this.propagated(propagation, control)];
    return this.#stage('cosine', null, [this.#queries, this.#encoder], [pool, ...rows]);
  }

  recency(pool: Stage): Stage {
    return this.#stage('recency', null, [this.#queries], [pool]);
  }

  decay(pool: Stage, options: NonNullable<RetrieverOptions['decay']>): Stage {
    return this.#stage('decay', options, [this.#queries], [pool]);
  }

  /** A control of other trees is what they are made from, any other moves what there is. */
  frames(pool: Stage, options: TrajectoryOptions, control: ControlOptions | null = null): Stage {
    const { dimensions, complexityScale } = options;
    const drawn = this.#drawn(control);
    if (control !== null && movesFrames(control))
      return this.#stage('controlled-frames', drawn, [this.#queries], [this.frames(pool, options, null)]);
    const inputs = [pool, this.turnComponents(), this.queryComponents()];
    return this.#stage('frames', [dimensions, complexityScale, ...drawn], [this.#queries, this.#encoder], inputs);
  }

  trajectory(pool: Stage, options: TrajectoryOptions, control: ControlOptions | null = null): Stage {
    const { weight: _, ...key } = options;
    const frames = this.frames(pool, options, onCoordinates(control));
    return this.#stage('trajectory', key, [this.#queries, this.#encoder], [frames]);
  }

  forwardCosines(options: AttentionOptions): Stage {
    return this.#stage('forward-cosines', { width: forwardWidth(this.#corpus, options) }, [this.#encoder]);
  }

  /** Whatever is mixed with them, and whatever weight that has. */
  logMasses(
    pool: Stage,
    options: AttentionOptions,
    coordinates: TrajectoryOptions,
    control: ControlOptions | null = null,
  ): Stage {
    const { weight: _, mechanism: __, mode: ___, mix: ____, ...key } = options;
    const ordering = onOrder(control);
    const ahead = ordering === null ? [this.forwardCosines(options)] : []; // of another order there is no table
    const inputs = [pool, this.frames(pool, coordinates, ordering), ...ahead];
    return this.#stage('log-masses', key, [this.#queries, this.#encoder], inputs);
  }

  attention(
    pool: Stage,
    options: AttentionOptions,
    trajectory: TrajectoryOptions | null,
    control: ControlOptions | null = null,
  ): Stage {
    const { weight: _, ...key } = options;
    const changing = onAttention(options, control);
    const coordinates = trajectory ?? TRAJECTORY_DEFAULTS;
    const { weight: __, sigma: ___, ...distances } = coordinates;
    const masses = looksForward(options) ? [this.logMasses(pool, options, coordinates, changing)] : [];
    const inputs = [pool, this.frames(pool, coordinates, changing), this.cosine(pool, null, null), ...masses];
    return this.#stage('attention', [key, distances], [this.#queries, this.#encoder], inputs);
  }

  signal(pool: Stage, signal: RelevanceSignal, options: RetrieverOptions): Stage {
    switch (signal) {
      case 'bm25':
        return this.bm25(pool, bm25Options(options));
      case 'cosine':
        return this.cosine(pool, options.propagation, options.control);
      case 'recency':
        return this.recency(pool);
    }
  }

  /** What the structure signals of a bank are made from. */
  #structure(pool: Stage, control: ControlOptions | null): Stage[] {
    return [
      this.frames(pool, TRAJECTORIES['trajectory-7'], onCoordinates(control)),
      ...Object.values(TRAJECTORIES).map((options) => this.trajectory(pool, options, control)),
      ...Object.values(ATTENTIONS).map((options) => this.attention(pool, options, null, control)),
    ];
  }

  /** Of a bank of signals; a control changes what its structure signals see. */
  signalTable(pool: Stage, options: SignalBankOptions, control: ControlOptions | null = null): Stage {
    const structure = options.groups.includes('structure') ? this.#structure(pool, control) : [];
    const encoders = options.encoders.map((encoder) => this.#encoderOf?.(encoder) ?? encoder);
    return this.#stage('signals', [options.groups, encoders], [this.#queries, this.#encoder], [pool, ...structure]);
  }

  /** What the ranking of an arm is put together from. */
  arm(options: RetrieverOptions): Stage[] {
    const { relevance, decay, trajectory, attention, scoring, control } = options;
    const pool = this.pool(options);
    const lists = relevance.signals.length > 1 && fusesLists(relevance.fusion);
    return [
      pool,
      ...(lists ? pool.inputs : []), // what the sources found is looked at again
      ...relevance.signals.map((signal) => this.signal(pool, signal, options)),
      ...(decay === null ? [] : [this.decay(pool, decay)]),
      ...(trajectory === null ? [] : [this.trajectory(pool, trajectory, control)]),
      ...(attention === null ? [] : [this.attention(pool, attention, trajectory, control)]),
      ...(scoring === null ? [] : [this.signalTable(pool, scoring.signals, control)]),
    ];
  }
}

/** Stages and all that they are computed from, each key once, inputs before what needs them. */
export function withInputs(stages: readonly Stage[], found = new Map<string, Stage>()): ReadonlyMap<string, Stage> {
  for (const stage of stages) {
    if (found.has(stage.key)) continue;
    withInputs(stage.inputs, found);
    found.set(stage.key, stage);
  }
  return found;
}
