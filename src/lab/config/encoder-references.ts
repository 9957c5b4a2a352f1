import { locatePath, RagPlusPlusError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import { setEncoderFolder } from '../../index/encoders/encoder-files.ts';
import { type EncoderOptions, encoderOptions, findEncoderFiles } from '../../index/encoders/registry.ts';
import { isPlain, type Plain } from '../composition/config-file.ts';

/** All options of an encoder; null for invalid options, which are reported as an error of their own. */
export function parseEncoderOptions(embedding: unknown): EncoderOptions | null {
  return parseOrNull(encoderOptions, embedding);
}

/** Finds the folder of the file that wrote a key of the options; null outside of files. */
type FindFolder = (key: string) => string | null;

/** The hash of files that exist; null for others, which are an error where they are read. */
function hashFiles(options: EncoderOptions): string | null {
  try {
    return findEncoderFiles(options)?.hash(options) ?? null;
  } catch (error) {
    if (error instanceof RagPlusPlusError) return null;
    throw error;
  }
}

/**
 * Gives an encoder that reads files of the user the paths at which they are, and the hash of their content. So the hash of the experiment covers the content, and
 * an interrupted run is not continued with other vectors.
 *
 * @param tuned keys whose values tuning chooses: no single hash states the content of their files.
 */
export function withEncoderFiles(embedding: unknown, findFolder: FindFolder, tuned: readonly string[] = []): unknown {
  const options = parseEncoderOptions(embedding);
  const files = options === null ? null : findEncoderFiles(options);
  if (options === null || files === null || !isPlain(embedding)) return embedding;
  const paths = Object.entries(embedding).flatMap(([key, path]) =>
    (files.keys as readonly string[]).includes(key) && typeof path === 'string'
      ? [[key, locatePath(path, findFolder(key))] as const]
      : [],
  );
  const located = { ...embedding, ...Object.fromEntries(paths) };
  const isPinned = !tuned.some((key) => (files.keys as readonly string[]).includes(key));
  const hash =
    isPinned && embedding.hash === undefined ? hashFiles({ ...options, ...Object.fromEntries(paths) }) : null;
  return hash === null ? located : { ...located, hash };
}

/** Notes where the files of resolved options were searched, for the message about a missing file. */
export function noteEncoderFolder(options: EncoderOptions | null, findFolder: FindFolder): void {
  if (options === null) return;
  const missing = findEncoderFiles(options)?.findMissing(options) ?? null;
  if (missing !== null) setEncoderFolder(options, findFolder(missing));
}

/** The name of the model of precomputed vectors is a statement about them, and no option of reading them. */
function withoutModelName(options: EncoderOptions): Plain {
  if (options.encoder !== 'precomputed') return { ...options };
  const { model: _, ...others } = options;
  return others;
}

/**
 * Whether two encoders embed texts in the same way. Vectors of the user are of the same encoder if both options name the same model; otherwise files are compared
 * by content, and by path only where no content is known.
 */
export function isSameEncoder(one: EncoderOptions, other: EncoderOptions): boolean {
  if (one.encoder === 'precomputed' && other.encoder === 'precomputed' && one.model && other.model)
    return one.model === other.model && one.dimension === other.dimension;
  const [first, second]: Plain[] = [withoutModelName(one), withoutModelName(other)];
  const isByContent = first?.hash !== undefined && second?.hash !== undefined;
  const ignored = isByContent ? (findEncoderFiles(one)?.keys ?? []) : ['hash'];
  const describe = (options: Plain = {}) =>
    computeHash(Object.fromEntries(Object.entries(options).filter(([key]) => !(ignored as string[]).includes(key))));
  return describe(first) === describe(second);
}
