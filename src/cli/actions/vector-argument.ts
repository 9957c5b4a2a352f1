import { existsSync } from 'node:fs';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { parseJson, shorten } from '../../data/jsonl/jsonl-rows.ts';
import { readVectorRows } from '../../index/encoders/precomputed/vector-file.ts';

/** The value of `--vector`: a JSON list, or a file with one row. @throws ValidationError, DimensionMismatchError. */
export async function readVector(given: string): Promise<Float32Array> {
  if (!given.trimStart().startsWith('[')) return readVectorOfFile(given);
  const values = parseJson(given);
  if (Array.isArray(values) && values.every((value) => typeof value === 'number')) return Float32Array.from(values);
  throw new ValidationError(`--vector is no JSON list of numbers: ${shorten(given)}; write one such as [0.1, 0.2]`);
}

async function readVectorOfFile(path: string): Promise<Float32Array> {
  if (!existsSync(path))
    throw new ValidationError(`--vector is neither a JSON list nor a file: ${path}; give one of them`, { path });
  const { rows, values } = await readVectorRows(path);
  if (rows !== 1) throw new DimensionMismatchError(`vectors of ${path}`, 1, rows, 'pass a file with one vector');
  return values;
}
