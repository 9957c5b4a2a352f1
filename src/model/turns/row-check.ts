import type { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';

/** A mark other than `"sensitive": false`, also within a text of JSON, and wherever a malformed row has it. */
const MARK = /\bsensitive\b(?!\\*"\s*:\s*false\b)/i;

/** A malformed row may have its mark anywhere. */
function mayBeSensitive(row: unknown): boolean {
  try {
    return MARK.test(JSON.stringify(row, (_, item) => (typeof item === 'bigint' ? null : item)) ?? '');
  } catch {
    return true; // contains itself, or is too deep
  }
}

/** As messages name the value of a row that may be sensitive. */
const NOT_SHOWN = 'a value that is not shown, since the row may be sensitive';

/** A fault without the value. What is missing and the name of an unknown key are no values. */
function hideValue(fault: ConfigurationFault): ConfigurationFault {
  const { got, nearest: _, ...rest } = fault;
  const isShown = got === 'nothing' || got.startsWith('unknown key ');
  return isShown ? fault : { ...rest, got: NOT_SHOWN };
}

/** As `check` of core, for rows of data: no fault of a row that may be sensitive has a value of it. */
export function checkRow<S extends z.ZodType>(schema: S, row: unknown): ReturnType<typeof check<S>> {
  const result = check(schema, row);
  if ('value' in result || !mayBeSensitive(row)) return result;
  return { faults: result.faults.map(hideValue) };
}

/** As `parse` of core, for rows of data. @throws ConfigurationError with every error, without values of a row that may be sensitive. */
export function parseRow<S extends z.ZodType>(schema: S, row: unknown, source: string): z.output<S> {
  const result = checkRow(schema, row);
  if ('faults' in result) throw new ConfigurationError(source, result.faults);
  return result.value;
}
