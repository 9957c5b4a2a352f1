import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import { assertContent, type EncoderDefinition } from './encoder-definition.ts';
import {
  findPeerVersion,
  identifyModel,
  isHubName,
  isModelFolder,
  PEER,
  WEIGHT_SUFFIXES,
  type WeightType,
} from './transformers/model-files.ts';
import { POOLING_MODES } from './transformers/model-settings.ts';

const options = z.strictObject({
  encoder: z.literal('transformers'),
  /** A folder with ONNX weights, or a name of the hub. */
  model: z.string().min(1),
  /** Branch, tag or commit of a model of the hub. */
  revision: z.string().min(1).default('main'),
  /** True if a model of the hub that is not there may be downloaded. */
  download: z.boolean().default(false),
  modelsFolder: z.string().min(1).default('.ragpp/models'),
  dtype: z.enum(Object.keys(WEIGHT_SUFFIXES) as [WeightType, ...WeightType[]]).default('fp32'),
  /** Null for what the files of the model say, here and below. */
  pooling: z.enum(POOLING_MODES).nullable().default(null),
  maxTokens: z.int().min(1).nullable().default(null),
  queryPrompt: z.string().nullable().default(null),
  passagePrompt: z.string().nullable().default(null),
  /** Keeps the first components; null for all. */
  dimension: z.int().min(1).nullable().default(null),
  batchSize: z.int().min(1).default(16),
  /** Of the content of a model folder, so that a resolved config depends on no file that may change; without it the files count as they are. */
  hash: z.string().optional(),
});
/** A sentence-transformers model from a folder or from the hub, with every default written out. */
export type TransformersOptions = z.output<typeof options>;

const hashFolder = (options: TransformersOptions) =>
  isModelFolder(options) ? computeHash(identifyModel(options)) : null;

/**
 * @throws UnavailableError when the optional peer is not installed; ValidationError for a model that is no folder and no name, and for another content than the
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

export const transformers: EncoderDefinition<typeof options> = {
  options,
  description: 'a sentence-transformers model with ONNX weights, run by the optional package @huggingface/transformers',
  identity: transformersIdentity,
  dependsOn: () => 'kind',
  files: {
    keys: ['model', 'modelsFolder'],
    findMissing: (given) => (isModelFolder(given) || isHubName(given) ? null : 'model'),
    hash: hashFolder,
  },
};
