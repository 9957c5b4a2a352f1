import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * Where a path leads that a file names: what exists relative to the file's folder comes first, then the working directory.
 *
 * @param folder of the file; null for a path that no file wrote, such as one of the command line.
 */
export function locatePath(path: string, folder: string | null): string {
  if (folder === null || isAbsolute(path)) return path;
  const beside = join(folder, path);
  return existsSync(beside) ? beside : path;
}
