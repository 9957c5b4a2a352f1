import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, ConfigurationError, RagPlusPlusError } from '../../core/errors/errors.ts';
import { readText, writeAtomic } from '../../core/files/files.ts';
import { parse } from '../../core/validation/validation.ts';
import type { EncoderUse } from '../../model/encoder.ts';
import { formatFileName } from '../composition/arms.ts';
import type { ArmOptions } from '../config/config.ts';
import type { ArmOutcomes } from '../launch/launcher.ts';
import type { ArmFailure } from '../measure/result.ts';
import { type ArmRecord, RECORDS, REMEDY, readArmRecord, recordPath } from './arm-record.ts';

/** The code of an error that is not ours, so an error of the program: its stack has the details. */
const UNEXPECTED = 'UNEXPECTED';

const failureSchema = z.strictObject({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  stack: z.string(),
});
type FailureFile = z.output<typeof failureSchema>;

/** The outcomes of the requested arms. */
export interface Outcomes {
  readonly records: readonly ArmRecord[];
  readonly failures: readonly ArmFailure[];
  /** The calls of services by the processes that began the run, if this one resumes it. */
  readonly earlierUse?: readonly EncoderUse[];
}

export function joinFailurePath(runFolder: string, arm: string): string {
  return join(runFolder, RECORDS, `${formatFileName(arm)}.failed.json`);
}

/** An error as it appears in the table; several lines become one. */
function buildFailureFile(name: string, error: unknown): FailureFile {
  const message = error instanceof Error ? error.message : String(error);
  return {
    name,
    code: error instanceof RagPlusPlusError ? error.code : UNEXPECTED,
    message: message.replace(/\s*\n\s*/g, '; '),
    stack: (error instanceof Error ? error.stack : undefined) ?? '',
  };
}

export function buildArmFailure({ name, description }: ArmOptions, error: unknown): ArmFailure {
  const { code, message } = buildFailureFile(name, error);
  return { name, description, code, message };
}

function formatFailure(failure: FailureFile): string {
  return `${JSON.stringify(failure, null, 2)}\n`;
}

/** Writes the failure of an arm to a run's folder. */
export function writeFailure(runFolder: string, arm: string, error: unknown): void {
  writeAtomic(joinFailurePath(runFolder, arm), formatFailure(buildFailureFile(arm, error)));
}

/** The file of an arm that failed where nothing was written. */
export function encodeFailure({ name, code, message }: ArmFailure): string {
  return formatFailure({ name, code, message, stack: '' });
}

/** True if an arm is done, with or without an error. */
export function hasOutcome(runFolder: string, arm: string): boolean {
  return existsSync(recordPath(runFolder, arm)) || existsSync(joinFailurePath(runFolder, arm));
}

/** The outcomes in a run's folder, for the launchers. */
export function outcomesIn(runFolder: string): ArmOutcomes {
  return {
    has: (arm) => hasOutcome(runFolder, arm),
    fail: (arm, error) => writeFailure(runFolder, arm, error),
  };
}

/** @throws ChecksumMismatchError for a file that is cut short or altered. */
function readFailure(path: string): FailureFile {
  try {
    return parse(failureSchema, JSON.parse(readText(path)), path);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof ConfigurationError)) throw error;
    throw new ChecksumMismatchError(path, 'not the failure of an arm', REMEDY);
  }
}

/** An arm that was run again has both files, and its record counts. */
function readOutcome(runFolder: string, arm: string): ArmRecord | FailureFile | null {
  if (existsSync(recordPath(runFolder, arm))) return readArmRecord(recordPath(runFolder, arm));
  return existsSync(joinFailurePath(runFolder, arm)) ? readFailure(joinFailurePath(runFolder, arm)) : null;
}

/** The outcomes of arms in a run's folder; omits arms without one. @throws ChecksumMismatchError for a damaged one. */
export function readOutcomes(runFolder: string, arms: readonly ArmOptions[]): Outcomes {
  const records: ArmRecord[] = [];
  const failures: ArmFailure[] = [];
  for (const { name, description } of arms) {
    const outcome = readOutcome(runFolder, name);
    if (outcome === null) continue;
    if ('positions' in outcome) records.push(outcome);
    else failures.push({ name, description, code: outcome.code, message: outcome.message });
  }
  return { records, failures };
}

/**
 * Removes unreadable outcomes from the folder of a resumed run, so that those arms run again.
 *
 * @returns the arms.
 */
export function removeDamagedOutcomes(runFolder: string, arms: readonly string[]): string[] {
  return arms.filter((arm) => {
    try {
      readOutcome(runFolder, arm);
      return false;
    } catch (error) {
      if (!(error instanceof ChecksumMismatchError)) throw error;
      for (const path of [recordPath(runFolder, arm), joinFailurePath(runFolder, arm)]) rmSync(path, { force: true });
      return true;
    }
  });
}
