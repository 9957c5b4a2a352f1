import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * Resolves a path that a file names: first relative to the folder of the file, then to the working directory.
 *
 * @param folder of the file; null for a path that no file wrote, such as one of the command line.
 */
export function locatePath(path: string, folder: string | null): string {
  if (folder === null || isAbsolute(path)) return path;
  const beside = join(folder, path);
  return existsSync(beside) ? beside : path;
}
