/** Texts to unit vectors, kept on disk by content. */

export type { EncoderUse } from '../../model/encoder.ts';
export { createCachedEncoder, type EncoderSource } from './embedding-cache.ts';
export type { EncoderInputs, VectorInput } from './encoder-definition.ts';
export { type FittedLsa, fitLsa } from './lsa.ts';
export { LSA_DEFAULTS, type LsaOptions } from './lsa-options.ts';
export { type EndpointEncoder, openEndpoint } from './openai-compatible.ts';
export type { OpenAiCompatibleOptions } from './openai-compatible-options.ts';
export { readNpy } from './precomputed/npy.ts';
export { readVectorFile, type VectorFile, type VectorFileOptions } from './precomputed/vector-file.ts';
export type { VectorMatrix } from './precomputed/vector-matrix.ts';
export type { PrecomputedOptions } from './precomputed-options.ts';
export {
  createEncoder,
  createEncoderSource,
  ENCODERS,
  type EncoderContext,
  type EncoderInput,
  type EncoderOptions,
  encoderOptions,
} from './registry.ts';
export { type ModelSettings, readModelSettings } from './transformers/model-settings.ts';
export { POOLING_MODES, type PoolingMode, poolTokens } from './transformers/pooling.ts';
export { loadTransformers, type TokenVectors, type TransformersEncoder } from './transformers.ts';
export type { TransformersOptions } from './transformers-options.ts';
export { loadUseLite } from './use-lite.ts';
export { USE_LITE_DEFAULTS, type UseLiteOptions } from './use-lite-options.ts';
