import type { ServiceUse } from '../core/service/endpoint-request.ts';
import type { StartProgress } from '../core/terminal/progress.ts';

export type { ServiceUse as EncoderUse } from '../core/service/endpoint-request.ts';

/** The turn or query that a text belongs to. */
export interface TextOwner {
  readonly kind: 'turn' | 'query';
  readonly id: string;
  /** True if the text must stay on this machine. An encoder that calls a service refuses it. */
  readonly sensitive?: boolean;
}

/** Whose texts are encoded, for encoders that look vectors up by id, and a signal that stops the work. */
export interface EncodeOptions {
  /** The owner of each text, [texts.length]. Without owners, every text is encoded as that of a turn, and has no id. */
  readonly owners?: readonly TextOwner[];
  /** Stops the work: `encode` rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** Maps texts to unit vectors. */
export interface Encoder {
  readonly name: string;
  readonly dimension: number;
  /** Everything besides the texts that affects the output: name, version, parameters, the texts of the fit. The cache's key. */
  readonly identity: Readonly<Record<string, unknown>>;
  /**
   * @returns row-major [texts.length, dimension]; rows have length 1, or are all zero for a text without a known word.
   * @throws DimensionMismatchError when there is not one owner for each text.
   */
  encode(texts: readonly string[], progress?: StartProgress, options?: EncodeOptions): Promise<Float32Array>;
  /** What all calls of `encode` together have used, such as tokens and their price; for display. */
  describeUse?(): string;
  /** {@link describeUse} as numbers, of an encoder that calls a service; null for no calls. */
  readUse?(): ServiceUse | null;
  /** True if texts leave this machine. */
  readonly isRemote?: boolean;
  dispose(): void;
}
