import type { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import { describeDepthFault } from '../jsonl/json-depth.ts';
import type { ExportFile } from './export-files.ts';

/**
 * The JSON of a file of an export, by its schema.
 *
 * @param expected the file that the loader reads, for the error.
 * @throws ValidationError that names the file and the first fault; StorageError if the file cannot be read.
 */
export async function readJson<S extends z.ZodType>(
  file: ExportFile,
  schema: S,
  expected: string,
): Promise<z.output<S>> {
  const { where } = file;
  const text = await file.readText();
  const tooDeep = describeDepthFault(text);
  if (tooDeep !== null) throw new ValidationError(`${where}: ${tooDeep}; name ${expected}`, { where });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const start = text.trim() === '' ? 'an empty file' : text.slice(0, 80);
    throw new ValidationError(`${where}: not JSON: ${start}; name ${expected}`, { where }, { cause: error });
  }
  const result = check(schema, value);
  if ('value' in result) return result.value;
  const [first] = result.faults;
  throw new ValidationError(
    `${where}: ${first?.path}: expected ${first?.expected}, got ${first?.got}; name ${expected}`,
    {
      where,
      faults: result.faults,
    },
  );
}
