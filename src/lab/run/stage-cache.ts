import { existsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { ChecksumMismatchError, StorageError } from '../../core/errors/errors.ts';
import { assertNoLink, assertWritableFolder, writeAtomic } from '../../core/files/files.ts';
import {
  readCheckedSafetensors,
  type TensorData,
  type TensorFile,
  writeSafetensors,
} from '../../core/files/safetensors.ts';
import type { Artifact, Stage, StageStore } from '../../rank/signals/stage.ts';

const REMEDY = 'delete the file and run again, with --retry-failed to resume a run';

/** Numbers that JSON cannot represent. */
const NON_FINITE = 'nonFinite';

function encode(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? { [NON_FINITE]: String(value) } : value;
}

function decode(_: string, value: unknown): unknown {
  const text = (value as Record<string, unknown> | null)?.[NON_FINITE];
  return text === undefined ? value : Number(text);
}

function isArray(value: unknown): value is TensorData {
  return ArrayBuffer.isView(value);
}

function readErrorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/**
 * The results of stages, on disk by their keys: `<cache>/stages/<stage>/<key>.safetensors`. Several processes may use one folder at once: files are written whole or not
 * at all, and two that make the same stage write the same bytes. Reading a file notes that it was used, for `ragpp cache gc`.
 */
export class StageCache implements StageStore {
  readonly #cacheFolder: string;
  readonly #folder: string;
  #isWritable = false;

  /** @param cacheFolder that of the command line, which holds more than stages. */
  constructor(cacheFolder: string) {
    this.#cacheFolder = cacheFolder;
    this.#folder = join(cacheFolder, 'stages');
  }

  /** Where a stage's result is kept, whether it is there or not. */
  joinStagePath({ name, key }: Stage): string {
    return join(this.#folder, name, `${key}.safetensors`);
  }

  /**
   * null for a stage that is to be made and written.
   *
   * @throws ChecksumMismatchError for a damaged file, naming the file to delete; StorageError for a link, and if a missing stage could not be written.
   */
  read(stage: Stage): Artifact | null {
    const path = this.joinStagePath(stage);
    assertNoLink(path, this.#cacheFolder);
    const found = existsSync(path) ? this.#readFile(stage, path) : null;
    if (found === null) this.#assertWritable();
    return found;
  }

  /** Before anything is computed that could not be kept. */
  #assertWritable(): void {
    if (!this.#isWritable) assertWritableFolder(this.#folder);
    this.#isWritable = true;
  }

  #readFile(stage: Stage, path: string): Artifact | null {
    let file: TensorFile;
    try {
      file = readCheckedSafetensors(path, REMEDY);
    } catch (error) {
      if (error instanceof StorageError && readErrorCode(error.cause) === 'ENOENT') return null; // gc took it in between
      throw error;
    }
    const { key, facts } = file.metadata;
    if (key !== stage.key || facts === undefined)
      throw new ChecksumMismatchError(path, 'it holds another stage', REMEDY);
    touch(path);
    const arrays = Object.entries(file.tensors).map(([name, { data }]) => [name, data]);
    return { ...JSON.parse(facts, decode), ...Object.fromEntries(arrays) };
  }

  /** Keeps the bytes of a file that another machine has written; {@link read} checks them. */
  keep(stage: Stage, bytes: Uint8Array): void {
    const path = this.joinStagePath(stage);
    assertNoLink(path, this.#cacheFolder);
    writeAtomic(path, bytes, null, false);
  }

  write(stage: Stage, artifact: Artifact): void {
    const path = this.joinStagePath(stage);
    assertNoLink(path, this.#cacheFolder);
    if (existsSync(path)) return; // another process was first
    const entries = Object.entries(artifact);
    const tensors: Record<string, TensorFile['tensors'][string]> = {};
    for (const [name, data] of entries) if (isArray(data)) tensors[name] = { shape: [data.length], data };
    const facts = Object.fromEntries(entries.filter(([, value]) => !isArray(value)));
    const metadata = { stage: stage.name, key: stage.key, facts: JSON.stringify(facts, encode) };
    writeSafetensors(path, { tensors, metadata }, { isSynced: false });
  }
}

/** The file of another user, or on a read-only disk, keeps its old time: gc deletes it a little earlier, without other effects. */
function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if (!['EPERM', 'EACCES', 'EROFS', 'ENOENT'].includes(readErrorCode(error) ?? '')) throw error;
  }
}
