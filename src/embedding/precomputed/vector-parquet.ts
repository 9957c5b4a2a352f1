import { statSync } from 'node:fs';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { RagPlusPlusError, StorageError, ValidationError } from '../../core/errors.ts';
import { parseVectorId } from './vector-ids.ts';
import { assertMatrix, type VectorMatrix } from './vector-matrix.ts';

const COLUMNS = ['id', 'vector'] as const;

/**
 * Reads the columns `id` and `vector` (a list of numbers) of a Parquet file, one row group at a time.
 *
 * @throws ValidationError for missing columns, for vectors of different lengths, and for what is no number; StorageError
 * for a file that cannot be read or decoded.
 */
export async function readVectorParquet(path: string): Promise<VectorMatrix & { readonly ids: readonly string[] }> {
  try {
    statSync(path);
    return await readRowGroups(path);
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    const remedy = 'write it as Parquet with the columns id and vector, with snappy compression or none';
    throw new StorageError('read', path, { cause: error, remedy });
  }
}

async function readRowGroups(path: string): Promise<VectorMatrix & { readonly ids: readonly string[] }> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const names = new Set(metadata.schema.map(({ name }) => name));
  for (const column of COLUMNS)
    if (!names.has(column))
      throw new ValidationError(`${path} has no column ${column}; write the columns id and vector`, { path, column });
  const ids: string[] = [];
  let values: Float32Array | null = null;
  let dimension = 0;
  const rows = Number(metadata.num_rows);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    for (const record of await parquetReadObjects({ file, metadata, columns: [...COLUMNS], rowStart, rowEnd })) {
      const vector = readVector(record.vector, `${path}, row ${ids.length}`);
      if (values === null) {
        [, dimension] = assertMatrix(path, [rows, vector.length]);
        values = new Float32Array(rows * dimension);
      }
      if (vector.length !== dimension)
        throw new ValidationError(
          `${path}, row ${ids.length} has ${vector.length} numbers, row 0 has ${dimension}; write vectors of one length`,
        );
      values.set(vector, ids.length * dimension);
      ids.push(parseVectorId(record.id, `${path}, row ${ids.length}`));
    }
    rowStart = rowEnd;
  }
  assertMatrix(path, [ids.length, dimension]);
  return { rows, dimension, values: values as Float32Array, ids };
}

/** @throws ValidationError for anything but a list of numbers. */
function readVector(value: unknown, where: string): ArrayLike<number> {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView) && !(value instanceof Uint8Array))
    return value as Float32Array;
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value;
  throw new ValidationError(`${where}: the vector is no list of numbers; write a list of floats without nulls`);
}
