import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { decodeHalfFloats } from '../../core/numbers/half-floats.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { CreateEncoder } from './encoder-definition.ts';
import { type TransformersOptions, transformersIdentity } from './encoder-options.ts';
import { applyOptions, findLimits, PooledEncoder } from './token-encoder.ts';
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
import { readModelSettings } from './transformers/model-settings.ts';

interface OpenModel {
  readonly peer: TransformersPeer;
  readonly model: Model;
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
): Promise<PooledEncoder> {
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
  const { dimension } = await runModel({ peer, model }, [tokeniser.encode('a')]);
  const tokenModel = {
    tokeniser,
    dimension,
    batchSize: options.batchSize,
    run: async (batch: readonly (readonly number[])[]) => (await runModel({ peer, model }, batch)).values,
    dispose: () => void model.dispose(),
  };
  const identity = transformersIdentity(options);
  return new PooledEncoder('transformers', tokenModel, settings, limits, identity, options.dimension);
}

/** {@link loadTransformers} as the registry calls it. */
export const createTransformers: CreateEncoder<TransformersOptions> = (options, _, progress) =>
  loadTransformers(options, progress);

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
