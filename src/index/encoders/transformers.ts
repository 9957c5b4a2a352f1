import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DimensionMismatchError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { decodeHalfFloats } from '../../core/numbers/half-floats.ts';
import { ignoreProgress, letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { EncodeOptions, Encoder, TextOwner } from '../../model/encoder.ts';
import { assertOneOwnerEach, type CreateEncoder, scaleRowsToUnit, truncateRows } from './encoder-definition.ts';
import { type TransformersOptions, transformersIdentity } from './encoder-options.ts';
import { batchByLength } from './length-batches.ts';
import { downloadModel } from './transformers/model-download.ts';
import {
  assertWeights,
  isModelFolder,
  joinWeightsPath,
  loadPeer,
  locateModel,
  MAIN_FILE,
  type Model,
  type ModelTensor,
  type TransformersPeer,
} from './transformers/model-files.ts';
import { type ModelSettings, type PoolingMode, poolTokens, readModelSettings } from './transformers/model-settings.ts';
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
export interface TransformersEncoder extends Encoder {
  /** As the files of the model and the options set them. */
  readonly settings: ModelSettings;
  /** @throws as `encode`. */
  encodeTokens(texts: readonly string[], options?: EncodeOptions): Promise<TokenVectors[]>;
}

/** What `encode` and `encodeTokens` need of an open model. */
interface OpenModel {
  readonly peer: TransformersPeer;
  readonly tokeniser: Tokeniser;
  readonly model: Model;
}

interface Limits {
  readonly maxTokens: number;
  readonly pooling: PoolingMode;
}

async function findFolder(options: TransformersOptions, progress: StartProgress): Promise<string> {
  const folder = locateModel(options);
  const isThere = existsSync(join(folder, MAIN_FILE));
  if (
    options.download &&
    !isModelFolder(options) &&
    (!isThere || !existsSync(join(folder, joinWeightsPath(options.dtype))))
  )
    return downloadModel(options, progress);
  if (!isThere)
    throw new UnavailableError(
      `model ${options.model}`,
      `it is not in ${folder}; set download: true, or copy the model to a folder`,
    );
  return folder;
}

/**
 * Opens a sentence-transformers model with ONNX weights by @huggingface/transformers, an optional peer, on the
 * processor. Pooling, maximal length and prompts come from the folder's own files, unless the options set them. Vectors
 * are scaled to length 1. A batch holds texts of one length only, so no padding affects a vector.
 *
 * @throws UnavailableError when the peer, the model or the weights are missing; ValidationError as
 * {@link readModelSettings}, and for a model whose files set no pooling or no maximal length.
 */
export async function loadTransformers(
  options: TransformersOptions,
  progress: StartProgress = ignoreProgress,
): Promise<TransformersEncoder> {
  const peer = await loadPeer();
  const folder = await findFolder(options, progress);
  assertWeights(folder, options.dtype);
  const settings = applyOptions(readModelSettings(folder), options);
  const limits = findLimits(folder, settings);
  const tokeniser = await peer.AutoTokenizer.from_pretrained(folder, { local_files_only: true });
  const hasOwnData = existsSync(join(folder, `${joinWeightsPath(options.dtype)}_data`));
  const model = await peer.AutoModel.from_pretrained(folder, {
    local_files_only: true,
    dtype: options.dtype,
    device: 'cpu',
    ...(hasOwnData ? { use_external_data_format: true } : {}),
  });
  const open = { peer, tokeniser, model };
  const probe = await runModel(open, [tokeniser.encode('a')]);
  const encoder = new OnnxEncoder(options, open, settings, limits, probe.dimension);
  if (encoder.dimension <= probe.dimension) return encoder;
  encoder.dispose();
  throw new DimensionMismatchError(
    `vectors of ${options.model}`,
    `at least ${encoder.dimension}`,
    probe.dimension,
    'lower dimension',
  );
}

/** {@link loadTransformers} as the registry calls it. */
export const createTransformers: CreateEncoder<TransformersOptions> = (options, _, progress) =>
  loadTransformers(options, progress);

function applyOptions(settings: ModelSettings, options: TransformersOptions): ModelSettings {
  const { pooling, maxTokens, queryPrompt, passagePrompt } = options;
  return {
    ...settings,
    pooling: pooling ?? settings.pooling,
    maxTokens: maxTokens ?? settings.maxTokens,
    prompts: { query: queryPrompt ?? settings.prompts.query, turn: passagePrompt ?? settings.prompts.turn },
  };
}

function findLimits(folder: string, { pooling, maxTokens }: ModelSettings): Limits {
  if (pooling !== null && maxTokens !== null) return { pooling, maxTokens };
  const [what, key] = pooling === null ? ['pooling', 'pooling'] : ['maximal length', 'maxTokens'];
  throw new ValidationError(`the files of model ${folder} set no ${what}; set ${key} in the options`, { folder });
}

/** @param batch of texts of one length @returns row-major [batch, T, D] */
async function runModel({ peer, model }: OpenModel, batch: readonly (readonly number[])[]) {
  const dims = [batch.length, (batch[0] as readonly number[]).length];
  const inputs = {
    input_ids: new peer.Tensor('int64', BigInt64Array.from(batch.flat(), BigInt), dims),
    attention_mask: new peer.Tensor('int64', new BigInt64Array(batch.flat().length).fill(1n), dims),
  };
  const outputs = await model(inputs);
  try {
    const hidden = outputs.last_hidden_state ?? outputs.token_embeddings;
    if (hidden === undefined)
      throw new ValidationError(
        `the model gives ${Object.keys(outputs).join(', ')}, expected last_hidden_state; export it for feature-extraction`,
      );
    return { dimension: hidden.dims[2] as number, values: readFloats(hidden) };
  } finally {
    for (const output of Object.values(outputs)) output?.dispose();
  }
}

/** A copy: the tensor's own numbers are gone after its disposal. */
function readFloats({ type, data }: ModelTensor): Float32Array {
  if (data instanceof Float32Array) return data.slice();
  if (type === 'float16' && data instanceof Uint16Array) return decodeHalfFloats(data);
  return Float32Array.from(data as ArrayLike<number>);
}

class OnnxEncoder implements TransformersEncoder {
  readonly name = 'transformers';
  readonly dimension: number;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly settings: ModelSettings;
  readonly #limits: Limits;
  readonly #batchSize: number;
  readonly #width: number;
  #open: OpenModel | null;

  /** @param width D of the model */
  constructor(options: TransformersOptions, open: OpenModel, settings: ModelSettings, limits: Limits, width: number) {
    this.dimension = options.dimension ?? width;
    this.identity = { ...transformersIdentity(options), dimension: this.dimension };
    this.settings = settings;
    this.#limits = limits;
    this.#batchSize = options.batchSize;
    this.#width = width;
    this.#open = open;
  }

  async encode(
    texts: readonly string[],
    progress: StartProgress = ignoreProgress,
    options: EncodeOptions = {},
  ): Promise<Float32Array> {
    const pooled = new Float32Array(texts.length * this.#width);
    const stage = progress('encode with transformers', texts.length);
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
    const special = new Set(this.#open?.tokeniser.all_special_ids);
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
    for (const batch of batchByLength(ids, this.#batchSize)) {
      signal?.throwIfAborted();
      const { values } = await runModel(
        this.#assertOpen(),
        batch.map((text) => ids[text] as number[]),
      );
      const size = values.length / batch.length;
      for (const [i, text] of batch.entries())
        use(text, ids[text] as number[], values.subarray(i * size, (i + 1) * size), starts[kindOf(text)]);
      await letEventsIn();
    }
  }

  #tokenise({ tokeniser }: OpenModel, text: string, kind: TextOwner['kind']): number[] {
    const { prompts, lowerCase } = this.settings;
    const whole = `${prompts[kind]}${text}`.trim();
    return tokeniseWithin(tokeniser, lowerCase ? whole.toLowerCase() : whole, this.#limits.maxTokens);
  }

  /** Tokens of the prompt, where the model does not pool them. */
  #countUnpooled({ tokeniser }: OpenModel, kind: TextOwner['kind']): number {
    const { includePrompt, prompts } = this.settings;
    return includePrompt || prompts[kind] === '' ? 0 : countPromptTokens(tokeniser, prompts[kind].trim());
  }

  #assertOpen(): OpenModel {
    if (this.#open !== null) return this.#open;
    throw new ValidationError('encoder was disposed: transformers; load a new encoder');
  }

  dispose(): void {
    const open = this.#open;
    this.#open = null;
    void open?.model.dispose();
  }
}
