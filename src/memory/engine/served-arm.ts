import type { EncoderOptions } from '../../index/encoders/registry.ts';
import type { SliceSource } from '../../kernel/slices/slice-options.ts';
import type { TextOwner, TokenSource } from '../../model/encoder.ts';
import type { RankOptions } from '../../rank/retrieval/written-steps.ts';
import type { TextVectors } from '../../rank/signals/signal.ts';

/** An arm with all that it needs besides turns and questions: what a memory may rank by. */
export interface ServedArm {
  readonly name: string;
  /** Tuned: each path of a grid has its value, and a fit its weights. */
  readonly options: RankOptions;
  readonly seed: number;
  /** The most turns of a ranking. */
  readonly depth: number;
  /** D of the vectors of turns. */
  readonly dimension: number;
  /** True if the arm compares vectors of questions. */
  readonly comparesVectors: boolean;
  /**
   * Unit vectors of texts.
   *
   * @param owners [texts]
   * @param encoder another than that of the arm, which a signal of it names; null for that of the arm.
   */
  embed(texts: readonly string[], owners: readonly TextOwner[], encoder: EncoderOptions | null): Promise<TextVectors>;
  /** Opens the vectors of tokens by the encoder of the arm. The caller disposes them. */
  openTokens(): Promise<TokenSource>;
  /** The kernels of slices that are not `local`; a memory signs those itself. */
  readonly slices?: SliceSource;
  /** Frees the encoders, and ends what signs slices. */
  dispose(): Promise<void>;
}
