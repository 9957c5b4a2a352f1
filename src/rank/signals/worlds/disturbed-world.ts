import type * as tf from '@tensorflow/tfjs-core';
import type { StartProgress } from '../../../core/terminal/progress.ts';
import type { EncoderOptions } from '../../../index/encoders/registry.ts';
import type { SliceAuthority } from '../../../kernel/signatures/slice-export.ts';
import type { SliceOptions } from '../../../kernel/slices/slice-options.ts';
import type { SliceTrust } from '../../../kernel/slices/slice-source.ts';
import type { QueryBatch } from '../../../model/candidates.ts';
import type { Query } from '../../../model/dataset.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import type { CandidatePool } from '../candidate-pool.ts';
import type { Encoding, StageUse, TextVectors, World } from '../signal.ts';
import type { Subcorpora } from '../subcorpus.ts';
import type { ControlOptions } from './control-options.ts';
import { disturbs } from './world-parts.ts';

/** The world as it is, which a null control disturbs: a `Workspace`. */
export interface WholeWorld extends World {
  readonly shared: WholeWorld;
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
  readonly turnVectors: Float32Array;
  readonly batch: QueryBatch;
  readonly subcorpora: Subcorpora;
  readonly tieRanks: Int32Array;
  readonly startProgress: StartProgress;
  readonly #workspace: WholeWorld;

  constructor(workspace: WholeWorld, control: ControlOptions) {
    this.#workspace = workspace;
    this.control = control;
    this.seed = workspace.seed;
    this.corpus = workspace.corpus;
    this.queries = workspace.queries;
    this.dimension = workspace.dimension;
    this.turnVectors = workspace.turnVectors;
    this.batch = workspace.batch;
    this.subcorpora = workspace.subcorpora;
    this.tieRanks = workspace.tieRanks;
    this.startProgress = workspace.startProgress;
  }

  get shared(): World {
    return this.#workspace.shared.under(this.control);
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

  keepResource<T extends tf.Tensor | tf.NamedTensorMap | { dispose(): void }>(owned: T): T {
    return this.#workspace.keepResource(owned);
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
}
