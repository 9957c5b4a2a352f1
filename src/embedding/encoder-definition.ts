import type { z } from 'zod';
import type { StartProgress } from '../core/progress.ts';
import type { Definition, NamingOptions } from '../core/registry.ts';
import type { Encoder } from '../model/encoder.ts';

/** What an encoder is made from besides its options. */
export interface EncoderInputs {
  /** The only texts that an encoder may be fitted on. */
  readonly fitTexts: readonly string[];
  readonly seed: number;
}

export type IdentifyEncoder<Options> = (options: Options, inputs: EncoderInputs) => Record<string, unknown>;

/** An encoder that is not made yet. */
export interface EncoderDefinition<S extends NamingOptions<'encoder'> = NamingOptions<'encoder'>>
  extends Definition<'encoder', S> {
  /** Everything that the vectors depend on besides the texts, the active backend included. */
  readonly identity: IdentifyEncoder<z.output<S>>;
}

/** The implementation of an encoder. */
export type CreateEncoder<Options> = (
  options: Options,
  inputs: EncoderInputs,
  progress: StartProgress,
) => Promise<Encoder>;
