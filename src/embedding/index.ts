/** Texts to unit vectors, kept on disk by content. */

export { cachedEncoder, type EncoderSource } from './embedding-cache.ts';
export { type FittedLsa, fitLsa, LSA_DEFAULTS, type LsaOptions } from './lsa.ts';
export { randomisedSvd, type SvdOptions, type TruncatedSvd } from './randomised-svd.ts';
export { createEncoder, type EncoderContext, type EncoderOptions, encoderOptions, encoderSource } from './registry.ts';
export type { SparseMatrix } from './sparse-matrix.ts';
export { TERM_KINDS, type TermKind } from './term-kinds.ts';
export { createTokeniser, type Tokeniser, type TokenOptions } from './tokens.ts';
export { loadUseLite, USE_LITE_DEFAULTS, type UseLiteOptions } from './use-lite.ts';
