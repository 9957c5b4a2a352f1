import { readText } from '../../core/files.ts';

/**
 * Reads a file of one JSON row a line. The last line may lack its line feed.
 *
 * @param parse parses a line, given its place: `path:line`.
 * @throws StorageError for a file that cannot be read, and as `parse` does.
 */
export function readJsonLines<T>(path: string, parse: (line: string, where: string) => T): T[] {
  const lines = readText(path).split('\n');
  const rows = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  return rows.map((line, i) => parse(line, `${path}:${i + 1}`));
}
