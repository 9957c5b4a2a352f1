import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';

/**
 * The folder of the file that wrote an encoder's options. It is stored beside the options, not in them: only the message about a missing file needs it.
 */
const folders = new WeakMap<object, string>();

/** Notes the folder in which the files of an encoder were searched before the working directory; null for the working directory alone. */
export function setEncoderFolder(options: object, folder: string | null): void {
  if (folder === null) folders.delete(options);
  else folders.set(options, folder);
}

/** @throws UnavailableError for a file of a config that does not exist, naming both places. @param key of the options whose file is missing, or null. */
export function assertFilesFound(options: object, key: string | null): void {
  const folder = folders.get(options);
  if (key === null || folder === undefined) return;
  const path = (options as Readonly<Record<string, unknown>>)[key];
  throw new UnavailableError(
    `${key} of the embedding`,
    `no file or folder at ${path}, neither in ${folder} nor in the working directory; set embedding.${key}`,
  );
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
