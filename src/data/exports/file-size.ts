import { formatMegabytes } from '../../core/decoding/decoder.ts';
import { StorageError } from '../../core/errors/errors.ts';

/** In bytes. The longest text of JavaScript has some 537 million characters. */
export const LARGEST_FILE = 500 * 2 ** 20;

/** @throws StorageError for a file that is longer than a text can be. */
export function refuseLargeFile(bytes: number, where: string): void {
  if (bytes <= LARGEST_FILE) return;
  throw new StorageError('read', where, {
    cause: new Error(`${formatMegabytes(bytes)}, where at most ${formatMegabytes(LARGEST_FILE)} are read`),
    remedy: 'split the file, or export fewer conversations at a time',
  });
}
