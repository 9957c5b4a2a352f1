import type { z } from 'zod';
import { ignoreProgress, type StartProgress } from '../core/progress.ts';
import { type Lazy, type NamingOptions, OptionsRegistry } from '../core/registry.ts';
import { parse } from '../core/validation.ts';
import type { Encoder } from '../model/encoder.ts';
import type { EncoderSource } from './embedding-cache.ts';
import type {
  CreateEncoder,
  EncoderDefinition,
  EncoderInputs,
  IdentifyEncoder,
  VectorInput,
} from './encoder-definition.ts';
import { lsa } from './lsa-options.ts';
import { precomputed } from './precomputed-options.ts';
import { useLite } from './use-lite-options.ts';

/** The inputs of an encoder besides its options. */
export interface EncoderContext extends EncoderInputs {
  readonly progress?: StartProgress;
}

function member<S extends NamingOptions<'encoder'>>(
  definition: EncoderDefinition<S>,
  load: () => Promise<CreateEncoder<z.output<S>>>,
): Lazy<EncoderDefinition<S>, CreateEncoder<z.output<S>>> {
  return { ...definition, load };
}

/** Every encoder: to add one takes its file and a line here. */
export const ENCODERS = new OptionsRegistry('encoder', [
  member(lsa, async () => (await import('./lsa.ts')).createLsa),
  member(useLite, async () => (await import('./use-lite.ts')).loadUseLite),
  member(precomputed, async () => (await import('./precomputed.ts')).loadPrecomputed),
]);

/** The options of every encoder, distinguished by `encoder`; unknown keys are refused. */
export const encoderOptions = ENCODERS.options;
export type EncoderOptions = z.output<typeof encoderOptions>;

/**
 * The encoder that the options name, not yet made: for the cache, which may not need it.
 *
 * @throws ConfigurationError for an unknown encoder and for unknown options.
 */
export function createEncoderSource(written: EncoderOptions, inputs: EncoderInputs): EncoderSource {
  const options = parse(encoderOptions, written, 'the options of an encoder');
  const { identity, dependsOn, load } = ENCODERS.get(options.encoder);
  return {
    name: options.encoder,
    identity: (identity as IdentifyEncoder<EncoderOptions>)(options, inputs),
    ...(dependsOn === undefined ? {} : { dependsOn: (dependsOn as (given: EncoderOptions) => VectorInput)(options) }),
    create: async (progress = ignoreProgress) =>
      ((await load()) as CreateEncoder<EncoderOptions>)(options, inputs, progress),
  };
}

/** @throws ConfigurationError as {@link createEncoderSource} does. */
export async function createEncoder(options: EncoderOptions, context: EncoderContext): Promise<Encoder> {
  return createEncoderSource(options, context).create(context.progress ?? ignoreProgress);
}
