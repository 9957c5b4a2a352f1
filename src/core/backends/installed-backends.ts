import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError } from '../errors/errors.ts';
import { measureFolder, removeBuiltFolder } from '../files/built-folder.ts';
import { readText } from '../files/files.ts';
import { findBackendsFolder, INSTALLABLE, type InstallableBackend } from '../tensors/active-backend.ts';
import { parse } from '../validation/validation.ts';

/** The record in the folder of a backend. */
export const RECORD_FILE = 'ragpp-backend.json';
/** A folder in which a backend is made, as errors name it. */
export const UNFINISHED_BACKEND = 'unfinished backend';

const record = z.strictObject({
  name: z.enum(INSTALLABLE),
  /** Packages of npm. */
  packages: z.array(z.strictObject({ name: z.string(), version: z.string(), integrity: z.string() })),
  /** Files of PyPI; none where no part is built here. */
  wheels: z.array(z.strictObject({ name: z.string(), version: z.string(), bytes: z.number(), sha256: z.string() })),
  /** With which the native part was built. */
  node: z.string(),
});

/** Versions and hashes of all that was downloaded for a backend. */
export type BackendRecord = z.output<typeof record>;

/** A backend that `ragpp backend install` has made. */
export interface InstalledBackend extends BackendRecord {
  readonly folder: string;
  readonly bytes: number;
}

export function locateBackend(name: InstallableBackend): string {
  return join(findBackendsFolder(), name);
}

/** The record of an installed backend; null if it is not installed. @throws ChecksumMismatchError for a damaged one. */
export function readRecord(name: InstallableBackend): BackendRecord | null {
  const folder = locateBackend(name);
  const path = join(folder, RECORD_FILE);
  if (!existsSync(path)) return null;
  try {
    return parse(record, JSON.parse(readText(path)), path);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ChecksumMismatchError(path, 'it is not JSON', `run ragpp backend remove ${name} and install it again`);
  }
}

export function listInstalled(): InstalledBackend[] {
  return INSTALLABLE.flatMap((name) => {
    const found = readRecord(name);
    const folder = locateBackend(name);
    return found === null ? [] : [{ ...found, folder, bytes: measureFolder(folder).bytes }];
  });
}

/** Deletes an installed backend, and what an unfinished attempt left. @returns true if there was anything to delete. */
export function removeInstalled(name: InstallableBackend): boolean {
  return removeBuiltFolder(locateBackend(name), UNFINISHED_BACKEND, RECORD_FILE);
}

/** `CUDA 12.5.82, cuDNN 9.3.0.75`: the libraries that backend `cuda` brought; null if it brought none. */
export function describeLibraries(): string | null {
  const wheels = readRecord('cuda')?.wheels ?? [];
  const [runtime, cudnn] = ['nvidia-cuda-runtime-cu12', 'nvidia-cudnn-cu12'].map((wanted) =>
    wheels.find(({ name }) => name === wanted),
  );
  return runtime === undefined || cudnn === undefined ? null : `CUDA ${runtime.version}, cuDNN ${cudnn.version}`;
}
