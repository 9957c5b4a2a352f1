import { createHash } from 'node:crypto';
import { type BigIntStats, closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { StorageError } from '../../../core/errors/errors.ts';

const CHUNK_BYTES = 2 ** 22;

interface KnownHash {
  readonly state: string;
  readonly hash: string;
}

/** By path: a plan asks for identities many times, and files of vectors are large. */
const known = new Map<string, KnownHash>();

function describeState({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/**
 * SHA-256 in hex of a file's bytes, of any size. A file is read again only after the system reports a change.
 *
 * @throws StorageError when the file cannot be read.
 */
export function hashFileContent(path: string): string {
  try {
    const state = describeState(statSync(path, { bigint: true }));
    const last = known.get(path);
    if (last?.state === state) return last.hash;
    const hash = hashBytes(path);
    known.set(path, { state, hash });
    return hash;
  } catch (error) {
    throw new StorageError('read', resolve(path), { cause: error });
  }
}

function hashBytes(path: string): string {
  const file = openSync(path, 'r');
  try {
    const hash = createHash('sha256');
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (let at = 0; ; ) {
      const read = readSync(file, chunk, 0, CHUNK_BYTES, at);
      if (read === 0) return hash.digest('hex');
      hash.update(chunk.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(file);
  }
}
