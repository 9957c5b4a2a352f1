import type { z } from 'zod';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import type { Encoder, TextOwner } from '../../model/encoder.ts';

/** What an encoder is made from besides its options. */
export interface EncoderInputs {
  /** The only texts that an encoder may be fitted on. */
  readonly fitTexts: readonly string[];
  readonly seed: number;
  /** Every turn and query of the data, for an encoder that reads vectors by id. The vectors do not depend on it. */
  readonly listOwners?: () => readonly TextOwner[];
}

/** What a vector depends on: its text, its text and the kind of its owner, or the id of its owner. */
export type VectorInput = 'text' | 'kind' | 'id';

export type IdentifyEncoder<Options> = (options: Options, inputs: EncoderInputs) => Record<string, unknown>;

/** The files of the user that an encoder reads. */
export interface EncoderFiles<Options> {
  /** The keys of the options that hold paths. */
  readonly keys: readonly (keyof Options & string)[];
  /** The key of the first path at which there is no file; null if all exist. */
  readonly findMissing: (options: Options) => (keyof Options & string) | null;
  /**
   * Identity of the content, wherever the files are; null if the options name no file of the user.
   *
   * @throws RagPlusPlusError for a file that cannot be read.
   */
  readonly hash: (options: Options) => string | null;
}

/** An encoder that is not made yet. */
export interface EncoderDefinition<S extends NamingOptions<'encoder'> = NamingOptions<'encoder'>>
  extends Definition<'encoder', S> {
  /** Everything that the vectors depend on besides the texts, the active backend included. */
  readonly identity: IdentifyEncoder<z.output<S>>;
  /** What a vector depends on besides the identity; the text alone by default. See `EncoderSource`. */
  readonly dependsOn?: (options: z.output<S>) => VectorInput;
  /** Of an encoder that reads files of the user. */
  readonly files?: EncoderFiles<z.output<S>>;
}

/** The implementation of an encoder. */
export type CreateEncoder<Options> = (
  options: Options,
  inputs: EncoderInputs,
  progress: StartProgress,
) => Promise<Encoder>;
