import { StorageError } from '../errors/errors.ts';

/** A file that is this many times as large as its compressed form is refused: text compresses to a tenth. */
const LARGEST_RATIO = 200;
/** Smaller files may compress to anything. */
const SMALL_BYTES = 2 ** 24;

export function formatMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20).toLocaleString('en-US')} MiB`;
}

/**
 * Refuses a bomb.
 *
 * @param name what to name once it is unpacked.
 * @throws StorageError for what unpacks to far more bytes than any text.
 */
export function assertUnpackedSize(where: string, packed: number, unpacked: number, name: 'file' | 'folder'): void {
  if (unpacked <= SMALL_BYTES || unpacked <= LARGEST_RATIO * packed) return;
  throw new StorageError('unpack', where, {
    cause: new Error(`${formatMegabytes(unpacked)} from ${formatMegabytes(packed)}`),
    remedy: `unpack the archive yourself and name the ${name}; at most ${LARGEST_RATIO} times the compressed size is unpacked`,
  });
}
