import { accessSync, constants, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { StorageError } from './errors.ts';

/** Writes a whole file or nothing: a temporary neighbour, synced, then renamed. */
export function writeAtomic(path: string, content: string | Uint8Array): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileAtomic.sync(
      path,
      typeof content === 'string' ? content : Buffer.from(content.buffer, content.byteOffset, content.byteLength),
    );
  } catch (error) {
    throw new StorageError('write', path, { cause: error });
  }
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}

export function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}

/** The names in a folder, sorted. */
export function readFolder(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}

/** Makes the folder and checks that it can be written, before long work starts. */
export function assertWritableFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StorageError('write to folder', path, { cause: error });
  }
}
