import { extname } from 'node:path';
import { NotFiniteError, ValidationError } from '../../core/errors.ts';
import { readSafetensors, type TensorFile } from '../../core/safetensors.ts';
import { readNpy } from './npy.ts';
import { findSidecar, indexRows, parseIdList, readSidecar } from './vector-ids.ts';
import { assertMatrix, type VectorMatrix } from './vector-matrix.ts';
import { readVectorParquet } from './vector-parquet.ts';

/** A file of vectors, and the file of their ids if the options name one. */
export interface VectorFileOptions {
  readonly path: string;
  readonly ids: string | null;
}

/** Vectors by id. */
export interface VectorFile extends VectorMatrix {
  readonly path: string;
  readonly rowOf: ReadonlyMap<string, number>;
}

/** The name of the vectors among the tensors of a safetensors file with several, and of the ids in its metadata. */
const TENSOR = 'vectors';
const IDS = 'ids';

/** What can be read, by the ending of the file's name. */
export const VECTOR_FORMATS = ['.npy', '.safetensors', '.parquet'] as const;

type Read = VectorMatrix & { readonly ids: readonly string[] };

/**
 * Reads vectors by id from `.npy` (ids in a sidecar), `.safetensors` (ids in the metadata `ids`, else in a sidecar) or
 * `.parquet` (columns `id` and `vector`).
 *
 * @throws ValidationError for a file of another format, and for ids that are missing or occur twice; NotFiniteError
 * naming the first id whose vector holds NaN or infinity; UnavailableError without ids; StorageError for a file that
 * cannot be read.
 */
export async function readVectorFile({ path, ids }: VectorFileOptions): Promise<VectorFile> {
  const read = await readByFormat(path, ids);
  const rowOf = indexRows(path, read.ids, read.rows);
  const { rows, dimension, values } = read;
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at >= 0) {
    const id = read.ids[Math.floor(at / dimension)] as string;
    throw new NotFiniteError(`a vector of ${path}`, `id ${id}, component ${at % dimension}`, values[at] as number);
  }
  return { path, rows, dimension, values, rowOf };
}

async function readByFormat(path: string, ids: string | null): Promise<Read> {
  switch (extname(path)) {
    case '.npy':
      return { ...readNpy(path), ids: readSidecar(path, findSidecar(path, ids)) };
    case '.safetensors':
      return readVectorTensor(path, ids);
    case '.parquet':
      return readVectorParquet(path);
    default:
      throw new ValidationError(
        `vectors are in a file of another format: ${path}; use one that ends in ${VECTOR_FORMATS.join(', ')}`,
        { path },
      );
  }
}

function readVectorTensor(path: string, ids: string | null): Read {
  const { tensors, metadata } = readSafetensors(path, 'write it again');
  const { shape, data } = findTensor(path, tensors);
  const [rows, dimension] = assertMatrix(path, shape);
  const values = data instanceof Float32Array ? data : Float32Array.from(data);
  const own = ids === null ? metadata[IDS] : undefined;
  if (own !== undefined) return { rows, dimension, values, ids: parseIdList(own, `metadata ${IDS} of ${path}`) };
  return { rows, dimension, values, ids: readSidecar(path, findSidecar(path, ids)) };
}

function findTensor(path: string, tensors: TensorFile['tensors']): TensorFile['tensors'][string] {
  const names = Object.keys(tensors);
  const tensor = names.length === 1 ? tensors[names[0] as string] : tensors[TENSOR];
  if (tensor === undefined)
    throw new ValidationError(
      `${path} has the tensors ${names.join(', ') || '(none)'}, and none is named ${TENSOR}; save one tensor, or name it ${TENSOR}`,
      { path },
    );
  if (tensor.data instanceof Float32Array || tensor.data instanceof Float64Array) return tensor;
  throw new ValidationError(`${path} has whole numbers; save vectors as F32, F64 or F16`, { path });
}
