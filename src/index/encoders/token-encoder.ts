import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { EncodeOptions, Encoder, TextOwner } from '../../model/encoder.ts';
import { assertOneOwnerEach, scaleRowsToUnit, truncateRows } from './encoder-definition.ts';
import { batchByLength } from './length-batches.ts';
import { type ModelSettings, type PoolingMode, poolTokens } from './transformers/model-settings.ts';
import { countPromptTokens, type Tokeniser, tokeniseWithin } from './transformers/token-limit.ts';

/** The vectors of a text's tokens, special tokens included. */
export interface TokenVectors {
  /** [T] ids of the vocabulary. */
  readonly ids: Int32Array;
  /** [T] whether a token is special, such as [CLS]. */
  readonly special: readonly boolean[];
  /** Row-major [T, D] of the whole dimension of the model, rows of length 1. */
  readonly vectors: Float32Array;
}

/** An encoder that can give the vectors of tokens too, for late interaction. */
export interface TokenEncoder extends Encoder {
  /** Settings of the model's files, with those of the options in their place. */
  readonly settings: ModelSettings;
  /** @throws as `encode`. */
  encodeTokens(texts: readonly string[], options?: EncodeOptions): Promise<TokenVectors[]>;
}

/** A model that gives a vector for each token of a text. */
export interface TokenModel {
  readonly tokeniser: Tokeniser;
  /** D. */
  readonly dimension: number;
  /** Texts of one length at a time. */
  readonly batchSize: number;
  /** @param batch of texts of one length T. @returns row-major [batch, T, D] */
  run(batch: readonly (readonly number[])[]): Promise<Float32Array>;
  dispose(): void;
}

/** Options that replace what the files of a model say; null for what these say. */
interface VectorOptions {
  readonly pooling: PoolingMode | null;
  readonly maxTokens: number | null;
  readonly queryPrompt: string | null;
  readonly passagePrompt: string | null;
  readonly dimension: number | null;
}

interface Limits {
  readonly maxTokens: number;
  readonly pooling: PoolingMode;
}

/** The settings of a model with those of the options in their place. */
export function applyOptions(settings: ModelSettings, options: VectorOptions): ModelSettings {
  const { pooling, maxTokens, queryPrompt, passagePrompt } = options;
  return {
    ...settings,
    pooling: pooling ?? settings.pooling,
    maxTokens: maxTokens ?? settings.maxTokens,
    prompts: { query: queryPrompt ?? settings.prompts.query, turn: passagePrompt ?? settings.prompts.turn },
  };
}

/** @throws ValidationError for a model whose files and options set no pooling or no maximal length. */
export function findLimits(folder: string, { pooling, maxTokens }: ModelSettings): Limits {
  if (pooling !== null && maxTokens !== null) return { pooling, maxTokens };
  const [what, key] = pooling === null ? ['pooling', 'pooling'] : ['maximal length', 'maxTokens'];
  throw new ValidationError(`the files of model ${folder} set no ${what}; set ${key} in the options`, { folder });
}

/** An encoder over a model that gives a vector for each token: it pools them, cuts long texts and writes prompts. */
export class PooledEncoder implements TokenEncoder {
  readonly name: string;
  readonly dimension: number;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly settings: ModelSettings;
  readonly #limits: Limits;
  readonly #width: number;
  #open: TokenModel | null;

  /**
   * @param model of which the encoder is the owner.
   * @param identity what a vector depends on.
   * @param dimension keeps the first components; null for all.
   * @throws DimensionMismatchError for more components than the model has.
   */
  constructor(
    name: string,
    model: TokenModel,
    settings: ModelSettings,
    limits: Limits,
    identity: Readonly<Record<string, unknown>>,
    dimension: number | null,
  ) {
    this.name = name;
    this.dimension = dimension ?? model.dimension;
    this.identity = { ...identity, dimension: this.dimension };
    this.settings = settings;
    this.#limits = limits;
    this.#width = model.dimension;
    this.#open = model;
    if (this.dimension <= model.dimension) return;
    this.dispose();
    throw new DimensionMismatchError(
      `vectors of ${name}`,
      `at least ${this.dimension}`,
      model.dimension,
      'lower dimension',
    );
  }

  async encode(
    texts: readonly string[],
    progress: StartProgress = ignoreProgress,
    options: EncodeOptions = {},
  ): Promise<Float32Array> {
    const pooled = new Float32Array(texts.length * this.#width);
    const stage = progress(`encode with ${this.name}`, texts.length);
    let done = 0;
    await this.#forEachText(texts, options, (text, _, tokens, start) => {
      const own = tokens.subarray(start * this.#width);
      if (own.length > 0) pooled.set(poolTokens(own, this.#width, this.#limits.pooling), text * this.#width);
      stage.update(++done);
    });
    stage.finish(`${texts.length} texts`);
    const rows = this.dimension === this.#width ? pooled : truncateRows(pooled, this.#width, this.dimension);
    scaleRowsToUnit(rows, this.dimension);
    return rows;
  }

  async encodeTokens(texts: readonly string[], options: EncodeOptions = {}): Promise<TokenVectors[]> {
    const none = { ids: new Int32Array(), special: [], vectors: new Float32Array() };
    const results: TokenVectors[] = texts.map(() => none);
    const special = new Set(this.#assertOpen().tokeniser.all_special_ids);
    await this.#forEachText(texts, options, (text, ids, tokens) => {
      const vectors = tokens.slice();
      scaleRowsToUnit(vectors, this.#width);
      results[text] = { ids: Int32Array.from(ids), special: ids.map((id) => special.has(id)), vectors };
    });
    return results;
  }

  /** @param use the index of a text, its tokens, their vectors, and the number of tokens that are not pooled */
  async #forEachText(
    texts: readonly string[],
    { owners, signal }: EncodeOptions,
    use: (text: number, ids: readonly number[], tokens: Float32Array, start: number) => void,
  ): Promise<void> {
    assertOneOwnerEach(texts, owners);
    const open = this.#assertOpen();
    const kindOf = (text: number): TextOwner['kind'] => owners?.[text]?.kind ?? 'turn';
    const ids = texts.map((text, i) => this.#tokenise(open, text, kindOf(i)));
    const starts = { turn: this.#countUnpooled(open, 'turn'), query: this.#countUnpooled(open, 'query') };
    for (const batch of batchByLength(ids, open.batchSize)) {
      signal?.throwIfAborted();
      const values = await this.#assertOpen().run(batch.map((text) => ids[text] as number[]));
      const size = values.length / batch.length;
      for (const [i, text] of batch.entries())
        use(text, ids[text] as number[], values.subarray(i * size, (i + 1) * size), starts[kindOf(text)]);
      await letEventsIn();
    }
  }

  #tokenise({ tokeniser }: TokenModel, text: string, kind: TextOwner['kind']): number[] {
    const { prompts, lowerCase } = this.settings;
    const whole = `${prompts[kind]}${text}`.trim();
    return tokeniseWithin(tokeniser, lowerCase ? whole.toLowerCase() : whole, this.#limits.maxTokens);
  }

  /** Tokens of the prompt, where the model does not pool them. */
  #countUnpooled({ tokeniser }: TokenModel, kind: TextOwner['kind']): number {
    const { includePrompt, prompts } = this.settings;
    return includePrompt || prompts[kind] === '' ? 0 : countPromptTokens(tokeniser, prompts[kind].trim());
  }

  #assertOpen(): TokenModel {
    if (this.#open !== null) return this.#open;
    throw new ValidationError(`encoder was disposed: ${this.name}; load a new encoder`);
  }

  dispose(): void {
    const open = this.#open;
    this.#open = null;
    open?.dispose();
  }
}
