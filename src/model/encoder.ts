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

/** The vectors of a text's tokens, special tokens included. */
export interface TokenVectors {
  /** [T] ids of the vocabulary. */
  readonly ids: Int32Array;
  /** [T] whether a token is special, such as [CLS]. */
  readonly special: readonly boolean[];
  /**
   * Row-major [T, D] of the whole dimension of the model, rows of length 1; of a query by an encoder that weighs tokens,
   * of the length by which a token's weight is multiplied.
   */
  readonly vectors: Float32Array;
}

/** Options of computing the vectors of tokens. */
export interface TokenOptions extends EncodeOptions {
  /**
   * The texts before each text, the oldest first, that its tokens see: then the result has the tokens of the text alone,
   * without special ones and without the prompt. The context is cut from the left to what the model reads.
   */
  readonly context?: readonly (readonly string[])[];
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
  /** D of the vectors of tokens, of an encoder that gives them. */
  readonly tokenDimension?: number;
  /**
   * The vectors of tokens, of an encoder that gives them.
   *
   * @throws as `encode`; ValidationError for a context that is not there for each text.
   */
  encodeTokens?(texts: readonly string[], options?: TokenOptions): Promise<TokenVectors[]>;
  /** What all calls of `encode` together have used, such as tokens and their price; for display. */
  describeUse?(): string;
  /** {@link describeUse} as numbers, of an encoder that calls a service; null for no calls. */
  readUse?(): ServiceUse | null;
  /** True if texts leave this machine. */
  readonly isRemote?: boolean;
  dispose(): void;
}

/** A text of which the vectors of tokens are wanted. */
export interface TokenText {
  readonly text: string;
  readonly owner: TextOwner;
  /** The texts before it that its tokens see, the oldest first. Null: special tokens and a prompt's are kept too. */
  readonly context: readonly string[] | null;
}

/** The vectors of a text's tokens in 8 bits: row t is `scales[t] * values[t]`. */
export interface StoredTokens {
  /** [T] ids of the vocabulary. */
  readonly ids: Int32Array;
  /** [T] */
  readonly scales: Float32Array;
  /** Row-major [T, D]. */
  readonly values: Int8Array;
}

/** The vectors of tokens of texts, computed once and kept. */
export interface TokenSource {
  /** D. @throws ValidationError before anything was computed. */
  readonly dimension: number;
  /** True if the length of a query's row is a factor of its token's weight; false if all have length 1. */
  readonly weighsTokens: boolean;
  /** Computes what is missing. @throws UnavailableError for an encoder without vectors of tokens. */
  prepare(texts: readonly TokenText[], progress?: StartProgress, signal?: AbortSignal): Promise<void>;
  /**
   * The tokens of texts that were prepared, in an order of its own.
   *
   * @param use gets the index of a text and its tokens, which it may not keep.
   */
  read(texts: readonly TokenText[], use: (index: number, tokens: StoredTokens) => Promise<void> | void): Promise<void>;
  dispose(): void;
}
