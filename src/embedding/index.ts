/** Texts to unit vectors, kept on disk by content. */

export { cachedEncoder, type EncoderSource } from './embedding-cache.ts';
export { type FittedLsa, fitLsa } from './lsa.ts';
export { LSA_DEFAULTS, type LsaOptions } from './lsa-options.ts';
export {
  createEncoder,
  ENCODERS,
  type EncoderContext,
  type EncoderOptions,
  encoderOptions,
  encoderSource,
} from './registry.ts';
export { loadUseLite } from './use-lite.ts';
export { USE_LITE_DEFAULTS, type UseLiteOptions } from './use-lite-options.ts';
