import { readLines } from './text-lines.ts';

/**
 * Reads a file of one JSON row a line. The last line may lack its line feed.
 *
 * @param parse parses a line, given its place: `path:line`.
 * @throws StorageError for a file that cannot be read; ValidationError for a line that is too long; as `parse` does.
 */
export function readJsonLines<T>(path: string, parse: (line: string, where: string) => T): T[] {
  return Array.from(readLines(path), ({ text, where }) => parse(text, where));
}
