import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { UnavailableError, ValidationError } from '../../../core/errors/errors.ts';
import { hashFileContent } from '../precomputed/content-hash.ts';
import { findPoolingFile, SETTINGS_FILES } from './model-settings.ts';
import type { Tokeniser } from './token-limit.ts';

export const PEER = '@huggingface/transformers';

/**
 * Its runtime downloads CUDA files of half a gigabyte unless an option prevents that; those for the processor are
 * inside.
 */
export const INSTALL_PEER = `npm install --onnxruntime-node-install=skip ${PEER}@4`;

export interface ModelTensor {
  readonly dims: readonly number[];
  readonly type: string;
  readonly data: unknown;
  dispose(): void;
}

export interface Model {
  (inputs: Readonly<Record<string, ModelTensor>>): Promise<Readonly<Record<string, ModelTensor | undefined>>>;
  dispose(): Promise<unknown>;
}

interface FromFolder<T> {
  from_pretrained(folder: string, options: Readonly<Record<string, unknown>>): Promise<T>;
}

/** The part of @huggingface/transformers that the encoder and the cross-encoder use. */
export interface TransformersPeer {
  readonly AutoTokenizer: FromFolder<Tokeniser>;
  readonly AutoModel: FromFolder<Model>;
  readonly AutoModelForSequenceClassification: FromFolder<Model>;
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => ModelTensor;
}

/**
 * Version of the installed peer.
 *
 * @param user what needs the peer
 * @throws UnavailableError with the command that installs it.
 */
export function findPeerVersion(user = 'encoder transformers'): string {
  try {
    const entry = createRequire(import.meta.url).resolve(PEER);
    return JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8')).version;
  } catch (error) {
    throw new UnavailableError(user, `${PEER} is not installed: ${INSTALL_PEER}`, { cause: error });
  }
}

/**
 * @param user what needs the peer
 * @throws UnavailableError when the peer is not installed, or when its native part does not load.
 */
export async function loadPeer(user = 'encoder transformers'): Promise<TransformersPeer> {
  findPeerVersion(user);
  try {
    return (await import('@huggingface/transformers' as string)) as TransformersPeer;
  } catch (error) {
    throw new UnavailableError(user, `${(error as Error).message}; ${INSTALL_PEER}`, {
      cause: error,
    });
  }
}

/** The number types of weights, with the ending of their file's name. */
export const WEIGHT_SUFFIXES = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
} as const;
export type WeightType = keyof typeof WEIGHT_SUFFIXES;

export interface ModelChoice {
  /** A folder, or `owner/name` of the hub. */
  readonly model: string;
  /** Branch, tag or commit on the hub. */
  readonly revision: string;
  /** Where models of the hub are kept. */
  readonly modelsFolder: string;
  readonly dtype: WeightType;
}

export const joinWeightsPath = (dtype: WeightType) => join('onnx', `model${WEIGHT_SUFFIXES[dtype]}.onnx`);

/** The last file that a download writes: where it exists, the download was finished. */
export const MAIN_FILE = 'config.json';

/** Names of the hub; a folder of the working directory may have such a name too, and goes first. */
const HUB_NAME = /^[\w.-]+\/[\w.-]+$/;

export function isModelFolder({ model }: Pick<ModelChoice, 'model'>): boolean {
  return existsSync(join(model, MAIN_FILE));
}

/** True if the name may be that of a model on the hub. */
export function isHubName({ model }: Pick<ModelChoice, 'model'>): boolean {
  return HUB_NAME.test(model) && !/(^|\/)\.\.?(\/|$)/.test(model);
}

/** The folder of the model, or where that of a hub name is kept, absolute. @throws ValidationError for what is neither. */
export function locateModel(choice: Omit<ModelChoice, 'dtype'>): string {
  if (isModelFolder(choice)) return resolve(choice.model);
  if (!isHubName(choice))
    throw new ValidationError(
      `no model folder with a ${MAIN_FILE} at ${choice.model}; give a folder, or the name of a model such as owner/name`,
      { model: choice.model },
    );
  return resolve(choice.modelsFolder, choice.model, choice.revision.replaceAll('/', '--'));
}

/** @throws UnavailableError for a folder without the weights, naming those that are there. */
export function assertWeights(folder: string, dtype: WeightType): void {
  if (existsSync(join(folder, joinWeightsPath(dtype)))) return;
  const onnx = join(folder, 'onnx');
  const others = existsSync(onnx) ? readdirSync(onnx).filter((name) => name.endsWith('.onnx')) : [];
  throw new UnavailableError(
    `model ${folder}`,
    `there is no ${joinWeightsPath(dtype)} for dtype ${dtype}; ${others.length === 0 ? 'export the model to ONNX (optimum-cli export onnx)' : `choose the dtype of ${others.sort().join(', ')}`}`,
  );
}

/**
 * What identifies the weights: the content of a folder's files, or the name and revision on the hub, which are known
 * before a download.
 */
export function identifyModel(choice: ModelChoice): unknown {
  if (!isModelFolder(choice)) {
    locateModel(choice);
    return { hub: choice.model, revision: choice.revision };
  }
  const weights = joinWeightsPath(choice.dtype);
  return identifyFolder(locateModel(choice), [weights, `${weights}_data`]);
}

/** The content of the files of a model's folder: settings, tokeniser and weights. */
export function identifyFolder(folder: string, weights: readonly string[]): Readonly<Record<string, string>> {
  const names = [...SETTINGS_FILES, findPoolingFile(folder), 'tokenizer.json', ...weights];
  const files = names.filter((name) => name !== null && existsSync(join(folder, name))) as string[];
  return Object.fromEntries(files.map((name) => [name, hashFileContent(join(folder, name))]));
}
