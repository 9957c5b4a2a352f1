import { join } from 'node:path';
import { z } from 'zod';
import { DimensionMismatchError, UnavailableError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { readSafetensors } from '../../core/files/safetensors.ts';
import { prefersPlainProducts } from '../../core/tensors/backend.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { createWordPieces, type WordPieces } from '../../model/text/word-pieces.ts';
import { type BertSizes, disposeBert, runBert, uploadBert } from '../../ops/bert/bert.ts';
import { fitsWasmParts } from '../../ops/bert/wasm-parts.ts';
import type { CreateEncoder } from './encoder-definition.ts';
import { BERT_WEIGHTS, type BertOptions, bertIdentity } from './encoder-options.ts';
import { describeMissingModel, locateModelFolder } from './models/model-location.ts';
import { applyOptions, findLimits, PooledEncoder, type TokenModel } from './token-encoder.ts';
import { readTokenWeights, tuneTokens } from './token-weights.ts';
import { MAIN_FILE } from './transformers/model-files.ts';
import { readModelSettings } from './transformers/model-settings.ts';
import type { Tokeniser } from './transformers/token-limit.ts';

const size = z.int().min(1);
const bertFile = z.looseObject({
  model_type: z.literal('bert'),
  hidden_act: z.literal('gelu'),
  position_embedding_type: z.literal('absolute').default('absolute'),
  hidden_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  intermediate_size: size,
  max_position_embeddings: size,
  vocab_size: size,
  layer_norm_eps: z.number().positive(),
});

/** The special pieces around a text, and others that a vocabulary of this kind has. */
const [FIRST, LAST] = ['[CLS]', '[SEP]'];
const SPECIAL: readonly string[] = [FIRST, LAST, '[PAD]', '[UNK]', '[MASK]'];

function createTokeniser(words: WordPieces): Tokeniser {
  const [first, last] = [words.getId(FIRST), words.getId(LAST)];
  return {
    encode: (text, { add_special_tokens: isWhole = true } = {}) =>
      isWhole ? [first, ...words.tokenise(text), last] : words.tokenise(text),
    all_special_ids: SPECIAL.filter((piece) => words.pieces.includes(piece)).map(words.getId),
  };
}

function readJson(path: string): unknown {
  return JSON.parse(readText(path));
}

/** @throws ConfigurationError for the `config.json` of a model of another kind. */
export function readBertSizes(folder: string): BertSizes {
  const path = join(folder, MAIN_FILE);
  return parse(bertFile, readJson(path), path);
}

/**
 * Opens a BERT from a folder of Hugging Face or by the name of an added model, which runs on the active backend:
 * `config.json`, `tokenizer.json` of WordPiece and `model.safetensors` in F32, F16 or BF16. Pooling, maximal length and
 * prompts come from the folder's other files where it has them, unless the options set them.
 *
 * @throws UnavailableError for a model that is not there; ConfigurationError for a model of another kind;
 *   ValidationError for weights that are missing, and for files and options that set no pooling or no maximal length;
 *   DimensionMismatchError for token weights of another model.
 */
export async function loadBert(options: BertOptions): Promise<PooledEncoder> {
  const { model } = options;
  const folder = locateModelFolder(model);
  if (folder === null)
    throw new UnavailableError(
      `model ${model}`,
      `no folder with a ${MAIN_FILE} and no added model; ${describeMissingModel(model)}`,
    );
  const sizes = readBertSizes(folder);
  const settings = applyOptions(readModelSettings(folder), options);
  const limits = findLimits(folder, settings);
  const tokens = join(folder, 'tokenizer.json');
  const tokeniser = createTokeniser(createWordPieces(readJson(tokens), tokens));
  const { tensors } = readSafetensors(join(folder, BERT_WEIGHTS), 'download the model again');
  const trained = options.tokenWeights === undefined ? null : readTokenWeights(options.tokenWeights);
  if (trained !== null && trained.dimension !== sizes.hidden_size)
    throw new DimensionMismatchError(
      `token weights ${options.tokenWeights}`,
      sizes.hidden_size,
      trained.dimension,
      `name weights that were trained with model ${model}`,
    );
  const bert = uploadBert(tensors, sizes);
  const opened = {
    tokeniser,
    dimension: sizes.hidden_size,
    // Where heads are multiplied one by one, a text by itself is fastest: the parts of a batch are copies.
    batchSize: prefersPlainProducts() && !fitsWasmParts(sizes) ? 1 : options.batchSize,
    run: (batch: readonly (readonly number[])[]) =>
      readBack('bert', () => runBert(bert, Int32Array.from(batch.flat()), (batch[0] as readonly number[]).length)),
    ...(trained && { tune: (...given: Parameters<Required<TokenModel>['tune']>) => tuneTokens(trained, ...given) }),
    dispose: () => disposeBert(bert),
  };
  return new PooledEncoder('bert', opened, settings, limits, bertIdentity(options), options.dimension);
}

/** {@link loadBert} as the registry calls it. */
export const createBert: CreateEncoder<BertOptions> = (options) => loadBert(options);
