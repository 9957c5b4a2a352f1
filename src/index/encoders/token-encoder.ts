import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { EncodeOptions, Encoder, TextOwner, TokenOptions, TokenVectors } from '../../model/encoder.ts';
import { assertOneOwnerEach, scaleRowsToUnit, truncateRows } from './encoder-definition.ts';
import { batchByLength } from './length-batches.ts';
import { type ModelSettings, type PoolingMode, poolTokens } from './transformers/model-settings.ts';
import {
  countPromptTokens,
  type Tokeniser,
  type TokenSpan,
  tokeniseInContext,
  tokeniseWithin,
} from './transformers/token-limit.ts';

/** An encoder that gives the vectors of tokens too, for late interaction. */
export type TokenEncoder = Encoder & Required<Pick<Encoder, 'tokenDimension' | 'encodeTokens'>>;

/** A model that gives a vector for each token of a text. */
export interface TokenModel {
  readonly tokeniser: Tokeniser;
  /** D. */
  readonly dimension: number;
  /** Texts of one length at a time. */
  readonly batchSize: number;
  /** @param batch of texts of one length T. @returns row-major [batch, T, D] */
  run(batch: readonly (readonly number[])[]): Promise<Float32Array>;
  /** The vectors of tokens that were trained on top of those of the model, [T, D] rows of length 1 each. */
  tune?(texts: readonly TokenVectors[], kinds: readonly TextOwner['kind'][]): Promise<TokenVectors[]>;
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

/** @throws ValidationError for a context that is not there for each text. */
export function assertContext(texts: readonly string[], context: TokenOptions['context']): void {
  if (context !== undefined && context.length !== texts.length)
    throw new ValidationError(`context of ${context.length} texts: expected one for each of ${texts.length}`);
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
  /** Settings of the model's files, with those of the options in their place. */
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
    await this.#forEachText(texts, options, (text, { start }, tokens) => {
      const own = tokens.subarray(start * this.#width);
      if (own.length > 0) pooled.set(poolTokens(own, this.#width, this.#limits.pooling), text * this.#width);
      stage.update(++done);
    });
    stage.finish(`${texts.length} texts`);
    const rows = this.dimension === this.#width ? pooled : truncateRows(pooled, this.#width, this.dimension);
    scaleRowsToUnit(rows, this.dimension);
    return rows;
  }

  get tokenDimension(): number {
    return this.#width;
  }

  async encodeTokens(texts: readonly string[], options: TokenOptions = {}): Promise<TokenVectors[]> {
    const { context } = options;
    assertContext(texts, context);
    const none = { ids: new Int32Array(), special: [], vectors: new Float32Array() };
    const results: TokenVectors[] = texts.map(() => none);
    const special = new Set(this.#assertOpen().tokeniser.all_special_ids);
    await this.#forEachText(texts, options, (text, { ids: all, start, end }, tokens) => {
      const ids = context === undefined ? all : all.slice(start, end);
      const vectors = context === undefined ? tokens.slice() : tokens.slice(start * this.#width, end * this.#width);
      scaleRowsToUnit(vectors, this.#width);
      results[text] = { ids: Int32Array.from(ids), special: ids.map((id) => special.has(id)), vectors };
    });
    const kinds = texts.map((_, i) => options.owners?.[i]?.kind ?? 'turn');
    return this.#assertOpen().tune?.(results, kinds) ?? results;
  }

  /**
   * The tokens that the model reads for each text, and those of them that are pooled or, with context, the text's own.
   *
   * @throws DimensionMismatchError for another number of owners than of texts; ValidationError after `dispose()`.
   */
  listSpans(texts: readonly string[], { owners, context }: TokenOptions = {}): TokenSpan[] {
    assertOneOwnerEach(texts, owners);
    const open = this.#assertOpen();
    const starts = { turn: this.#countUnpooled(open, 'turn'), query: this.#countUnpooled(open, 'query') };
    return texts.map((text, i) => {
      const kind = owners?.[i]?.kind ?? 'turn';
      if (context !== undefined) return this.#tokeniseInContext(open, text, kind, context[i] as readonly string[]);
      const ids = this.#tokenise(open, text, kind);
      return { ids, start: starts[kind], end: ids.length };
    });
  }

  /** @param use the index of a text, its span, and the vectors of all its tokens. */
  async #forEachText(
    texts: readonly string[],
    { signal, ...options }: TokenOptions,
    use: (text: number, span: TokenSpan, tokens: Float32Array) => void,
  ): Promise<void> {
    const spans = this.listSpans(texts, options);
    const ids = spans.map((span) => span.ids);
    for (const batch of batchByLength(ids, this.#assertOpen().batchSize)) {
      signal?.throwIfAborted();
      const values = await this.#assertOpen().run(batch.map((text) => ids[text] as readonly number[]));
      const size = values.length / batch.length;
      for (const [i, text] of batch.entries())
        use(text, spans[text] as TokenSpan, values.subarray(i * size, (i + 1) * size));
      await letEventsIn();
    }
  }

  #tokenise({ tokeniser }: TokenModel, text: string, kind: TextOwner['kind']): number[] {
    const whole = this.#readCase(`${this.settings.prompts[kind]}${text}`.trim());
    return tokeniseWithin(tokeniser, whole, this.#limits.maxTokens);
  }

  #tokeniseInContext(
    { tokeniser }: TokenModel,
    text: string,
    kind: TextOwner['kind'],
    context: readonly string[],
  ): TokenSpan {
    const prompt = this.settings.prompts[kind].trim();
    const before = context.map((part) => this.#readCase(part));
    return tokeniseInContext(tokeniser, prompt, before, this.#readCase(text), this.#limits.maxTokens);
  }

  #readCase(text: string): string {
    return this.settings.lowerCase ? text.toLowerCase() : text;
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
