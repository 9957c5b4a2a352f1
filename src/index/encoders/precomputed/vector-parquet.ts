import { openParquet, type ParquetFile } from '../../../core/decoding/decoder.ts';
import { RagPlusPlusError, StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { assertMatrix, type VectorMatrix } from './npy.ts';
import { parseVectorId } from './vector-ids.ts';

const COLUMNS = ['id', 'vector'] as const;

/**
 * Reads the columns `id` and `vector` (a list of numbers) of a Parquet file.
 *
 * @throws ValidationError for missing columns, for vectors of different lengths, and for what is no number; StorageError
 * for a file that cannot be read or decoded.
 */
export async function readVectorParquet(path: string): Promise<VectorMatrix & { readonly ids: readonly string[] }> {
  try {
    const file = await openParquet(path, { columns: COLUMNS });
    try {
      return await readMatrix(path, file);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    const remedy = 'write it as Parquet with the columns id and vector';
    throw new StorageError('read', path, { cause: error, remedy });
  }
}

async function readMatrix(
  path: string,
  file: ParquetFile,
): Promise<VectorMatrix & { readonly ids: readonly string[] }> {
  const names = new Set(file.columns);
  for (const column of COLUMNS)
    if (!names.has(column))
      throw new ValidationError(`${path} has no column ${column}; write the columns id and vector`, { path, column });
  const ids: string[] = [];
  let values: Float32Array | null = null;
  let dimension = 0;
  for await (const records of file.readBatches())
    for (const record of records) {
      const vector = readVector(record.vector, `${path}, row ${ids.length}`);
      if (values === null) {
        [, dimension] = assertMatrix(path, [file.rowCount, vector.length]);
        values = new Float32Array(0);
      }
      if (values.length < (ids.length + 1) * dimension) values = growRows(values, dimension, file.rowCount);
      if (vector.length !== dimension)
        throw new ValidationError(
          `${path}, row ${ids.length} has ${vector.length} numbers, row 0 has ${dimension}; write vectors of one length`,
        );
      values.set(vector, ids.length * dimension);
      ids.push(parseVectorId(record.id, `${path}, row ${ids.length}`));
    }
  assertMatrix(path, [ids.length, dimension]);
  return { rows: ids.length, dimension, values: (values as Float32Array).subarray(0, ids.length * dimension), ids };
}

/** Rows that memory is reserved for at first: a damaged file may state any number of rows. */
const FIRST_ROWS = 65_536;

/** The values with room for twice the rows, up to as many as the file states while it has no more. */
function growRows(values: Float32Array, dimension: number, stated: number): Float32Array {
  const rows = values.length / dimension;
  const next = Math.max(FIRST_ROWS, 2 * rows);
  const grown = new Float32Array((stated > rows ? Math.min(next, stated) : next) * dimension);
  grown.set(values);
  return grown;
}

/** @throws ValidationError for anything but a list of numbers. */
function readVector(value: unknown, where: string): ArrayLike<number> {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView) && !(value instanceof Uint8Array))
    return value as Float32Array;
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value;
  throw new ValidationError(`${where}: the vector is no list of numbers; write a list of floats without nulls`);
}
