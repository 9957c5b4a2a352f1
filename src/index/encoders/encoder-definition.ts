import type { z } from 'zod';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { assertSendable, type SendableText } from '../../core/service/sendable-text.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Definition, NamingOptions } from '../../core/validation/registry.ts';
import type { Encoder, TextOwner } from '../../model/encoder.ts';

/**
 * Scales each row of [N, D] to length 1, in float64 sums; a zero row stays zero.
 *
 * @param tolerance rows whose squared length differs from 1 by no more keep their bits.
 */
export function scaleRowsToUnit(rows: Float32Array, dimension: number, tolerance = 0): void {
  for (let start = 0; start < rows.length; start += dimension) {
    let squares = 0;
    for (let i = start; i < start + dimension; i++) squares += rows[i]! ** 2;
    if (squares === 0 || Math.abs(squares - 1) <= tolerance) continue;
    const factor = 1 / Math.sqrt(squares);
    for (let i = start; i < start + dimension; i++) rows[i]! *= factor;
  }
}

/**
 * Keeps the first components of each row of [N, D]: the vector of fewer dimensions of a Matryoshka model, not scaled.
 */
export function truncateRows(rows: Float32Array, dimension: number, kept: number): Float32Array {
  const truncated = new Float32Array((rows.length / dimension) * kept);
  for (let from = 0, to = 0; from < rows.length; from += dimension, to += kept)
    truncated.set(rows.subarray(from, from + kept), to);
  return truncated;
}

/** @throws DimensionMismatchError when owners are given, but not one for each text. */
export function assertOneOwnerEach(texts: readonly string[], owners: readonly TextOwner[] | undefined): void {
  if (owners !== undefined && owners.length !== texts.length)
    throw new DimensionMismatchError('owners of texts', texts.length, owners.length, 'pass one owner for each text');
}

/** The texts with a sensitive owner. A text of several owners is sensitive if one of them is. */
export function listSensitiveTexts(
  texts: readonly string[],
  owners: readonly TextOwner[] | undefined,
): ReadonlySet<string> {
  return new Set(texts.filter((_, i) => owners?.[i]?.sensitive === true));
}

/**
 * The texts as they may be sent.
 *
 * @param user what sends them, as the error names it.
 * @throws SensitiveTextError if a text has a sensitive owner.
 */
export function assertTextsSendable(
  texts: readonly string[],
  owners: readonly TextOwner[] | undefined,
  user: string,
): readonly SendableText[] {
  const sensitive = listSensitiveTexts(texts, owners);
  const items = texts.map((text) => ({ text }));
  return assertSendable(items, ({ text }) => sensitive.has(text), user).map(({ text }) => text);
}

/**
 * @param expected of the config, if it states one.
 * @throws ValidationError for files that have changed since the config was resolved.
 */
export function assertContent(path: string, expected: string | undefined, found: string | null): void {
  if (expected === undefined || expected === found) return;
  throw new ValidationError(
    `files of the encoder have changed since the config was resolved: ${path}; restore them, or remove hash from the config`,
    { path, expected, found },
  );
}

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
  /** The remedy for a missing file, as an error ends; by default to set the key. */
  readonly describeRemedy?: (options: Options) => string;
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
  /** True if the vectors of a query's tokens have the factors of their weights as lengths. */
  readonly weighsTokens?: (options: z.output<S>) => boolean;
  /** True if the encoder is fitted on the texts and needs nothing else: no file, no package, no service. */
  readonly isFitted?: true;
  /** Of an encoder that reads files of the user. */
  readonly files?: EncoderFiles<z.output<S>>;
}

/** The implementation of an encoder. */
export type CreateEncoder<Options> = (
  options: Options,
  inputs: EncoderInputs,
  progress: StartProgress,
) => Promise<Encoder>;
