import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { BACKENDS, type BackendName } from '../../core/tensors/active-backend.ts';
import { parse } from '../../core/validation/validation.ts';
import { recordVersion } from './code-version.ts';
import { STATE } from './partial-folder.ts';

const stateSchema = z.strictObject({
  /** Of the config, the data and the backend, as in the folder's name. */
  hash: z.string(),
  /** See {@link recordVersion}. */
  recordVersion: z.string(),
  dataHash: z.string(),
  backend: z.enum(BACKENDS),
  /** The arms of the table, in its order. */
  arms: z.array(z.string()),
  /** The maximum number of arms run at the same time by the command that holds the folder. */
  armsAtOnce: z.int().min(1),
});

/** The values that all arms of a run share, on any machine. */
export type RunState = z.output<typeof stateSchema>;

/** The state of a run whose arms are known. */
export function describeRunState(
  run: { readonly hash: string; readonly backend: BackendName; readonly arms: readonly { readonly name: string }[] },
  dataHash: string,
  armsAtOnce: number,
): RunState {
  const { hash, backend, arms } = run;
  return { hash, recordVersion: recordVersion(), dataHash, backend, arms: arms.map(({ name }) => name), armsAtOnce };
}

export function formatState(state: RunState): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

/** @throws StorageError for a folder that is not of a run, ChecksumMismatchError for a truncated state, ConfigurationError for an invalid one. */
export function readState(runFolder: string): RunState {
  const path = join(runFolder, STATE);
  return parse(stateSchema, parseStateJson(readText(path), path), path);
}

function parseStateJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ChecksumMismatchError(path, 'not JSON', 'run again without --resume and --retry-failed');
  }
}

/** The facts of two states that differ, of those that records of one table must share. */
export function listDifferingFacts(a: RunState, b: RunState): string[] {
  return (['hash', 'recordVersion', 'dataHash', 'backend'] as const).filter((key) => a[key] !== b[key]);
}

/** @throws ValidationError if the folder holds records of other code, data or backend, which must not be mixed with new ones in one table. */
export function assertContinues(runFolder: string, state: RunState): void {
  if (!existsSync(join(runFolder, STATE))) return;
  const differing = listDifferingFacts(readState(runFolder), state);
  if (differing.length > 0)
    throw new ValidationError(
      `run cannot be resumed, since it was begun with another ${differing.join(', ')}: ${runFolder}; run again without --resume`,
      { runFolder, differing },
    );
}
