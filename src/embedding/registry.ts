import { z } from 'zod';
import { type StartProgress, silent } from '../core/progress.ts';
import { parse } from '../core/validation.ts';
import type { Encoder } from '../model/encoder.ts';
import type { EncoderSource } from './embedding-cache.ts';
import { fitLsa, LSA_DEFAULTS, lsaIdentity } from './lsa.ts';
import { loadUseLite, USE_LITE_DEFAULTS, useLiteIdentity } from './use-lite.ts';

/** What an encoder may be made from besides its options. */
export interface EncoderContext {
  /** The only texts that an encoder may be fitted on. */
  readonly fitTexts: readonly string[];
  readonly seed: number;
  readonly progress?: StartProgress;
}

const lsaOptions = z.strictObject({
  encoder: z.literal('lsa'),
  dimension: z.int().min(1).default(LSA_DEFAULTS.dimension),
  powerIterations: z.int().min(0).default(LSA_DEFAULTS.powerIterations),
  oversampling: z.int().min(0).default(LSA_DEFAULTS.oversampling),
  minDocumentFrequency: z.int().min(1).default(LSA_DEFAULTS.minDocumentFrequency),
  maxDocumentShare: z.number().positive().max(1).default(LSA_DEFAULTS.maxDocumentShare),
  dropStopWords: z.boolean().default(LSA_DEFAULTS.dropStopWords),
  stem: z.boolean().default(LSA_DEFAULTS.stem),
});

const useLiteOptions = z.strictObject({
  encoder: z.literal('use-lite'),
  maxTokens: z.int().min(1).default(USE_LITE_DEFAULTS.maxTokens),
  batchSize: z.int().min(1).default(USE_LITE_DEFAULTS.batchSize),
});

/** The options of every encoder, told apart by `encoder`; unknown keys are refused. */
export const encoderOptions = z.discriminatedUnion('encoder', [lsaOptions, useLiteOptions]);
export type EncoderOptions = z.output<typeof encoderOptions>;

/**
 * The encoder that the options name, not yet made: for the cache, which may not need it.
 *
 * @throws ConfigurationError for an unknown encoder and for options that are none of it.
 */
export function encoderSource(written: EncoderOptions, context: EncoderContext): EncoderSource {
  const options = parse(encoderOptions, written, 'the options of an encoder');
  const { fitTexts, seed } = context;
  if (options.encoder === 'lsa') {
    const { encoder: name, ...rest } = options;
    const settings = { ...rest, seed };
    return {
      name,
      identity: lsaIdentity(fitTexts, settings),
      create: (progress) => fitLsa(fitTexts, settings, progress),
    };
  }
  return { name: options.encoder, identity: useLiteIdentity(options), create: () => loadUseLite(options) };
}

/** @throws ConfigurationError as {@link encoderSource} does. */
export async function createEncoder(options: EncoderOptions, context: EncoderContext): Promise<Encoder> {
  return encoderSource(options, context).create(context.progress ?? silent);
}
