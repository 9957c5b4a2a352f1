/** Texts to unit vectors, kept on disk by content. */

export { cachedEncoder, type EncoderSource } from './embedding-cache.ts';
export { type FittedLsa, fitLsa, LSA_DEFAULTS, type LsaOptions } from './lsa.ts';
export { createEncoder, type EncoderContext, type EncoderOptions, encoderOptions, encoderSource } from './registry.ts';
export { loadUseLite, USE_LITE_DEFAULTS, type UseLiteOptions } from './use-lite.ts';
