import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import type { SvdOptions } from '../../core/linear/randomised-svd.ts';
import { activeBackend } from '../../core/tensors/active-backend.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { createTokenSchema, type TokenOptions } from '../../model/text/tokens.ts';
import type { EncoderDefinition } from './encoder-definition.ts';
import type { VocabularyOptions } from './tf-idf.ts';

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

const options = z.strictObject({
  encoder: z.literal('lsa'),
  dimension: z.int().min(1).default(LSA_DEFAULTS.dimension),
  powerIterations: z.int().min(0).default(LSA_DEFAULTS.powerIterations),
  oversampling: z.int().min(0).default(LSA_DEFAULTS.oversampling),
  minDocumentFrequency: z.int().min(1).default(LSA_DEFAULTS.minDocumentFrequency),
  maxDocumentShare: z.number().positive().max(1).default(LSA_DEFAULTS.maxDocumentShare),
  ...createTokenSchema(LSA_DEFAULTS),
});
export type LsaEncoderOptions = z.output<typeof options>;

/** What a fit on these texts will depend on, known before it is made. */
export function lsaIdentity(texts: readonly string[], settings: LsaOptions): Record<string, unknown> {
  return { encoder: 'lsa', version: 1, ...settings, backend: activeBackend(), fittedOn: computeHash(texts) };
}

export const lsa: EncoderDefinition<typeof options> = {
  options,
  description: 'TF-IDF and a seeded randomised SVD, fitted on the conversations of the dev split',
  identity: ({ encoder: _, ...settings }, { fitTexts, seed }) => lsaIdentity(fitTexts, { ...settings, seed }),
};
