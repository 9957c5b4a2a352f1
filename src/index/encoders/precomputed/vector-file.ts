import { extname } from 'node:path';
import { NotFiniteError, ValidationError } from '../../../core/errors/errors.ts';
import { readSafetensors, type TensorFile } from '../../../core/files/safetensors.ts';
import { assertMatrix, readNpy, type VectorMatrix } from './npy.ts';
import { findSidecar, indexRows, parseIdList, readSidecar } from './vector-ids.ts';
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

/** The rows of a file of vectors; `ids` is null for a file without ids, whose rows are known by their order. */
export interface VectorRows extends VectorMatrix {
  readonly ids: readonly string[] | null;
}

/**
 * Reads vectors by id from `.npy` (ids in a sidecar), `.safetensors` (ids in the metadata `ids`, else in a sidecar) or
 * `.parquet` (columns `id` and `vector`).
 *
 * @throws ValidationError for a file of another format, and for ids that are missing or occur twice; NotFiniteError
 * naming the first id whose vector holds NaN or infinity; UnavailableError without ids; StorageError for a file that
 * cannot be read.
 */
export async function readVectorFile({ path, ids }: VectorFileOptions): Promise<VectorFile> {
  const read = await readWithIds(path, ids);
  const rowOf = indexRows(path, read.ids, read.rows);
  const { rows, dimension, values } = read;
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at >= 0) {
    const id = read.ids[Math.floor(at / dimension)] as string;
    throw new NotFiniteError(`a vector of ${path}`, `id ${id}, component ${at % dimension}`, values[at] as number);
  }
  return { path, rows, dimension, values, rowOf };
}

/** {@link readVectorFile} for files that may lack ids; vectors are not checked. */
export async function readVectorRows(path: string): Promise<VectorRows> {
  const { own, ...matrix } = await readByFormat(path);
  const sidecar = own === null ? findSidecar(path, null) : null;
  const ids = sidecar === null ? own : readSidecar(path, sidecar);
  if (ids !== null) indexRows(path, ids, matrix.rows);
  return { ...matrix, ids };
}

async function readWithIds(path: string, named: string | null): Promise<Read> {
  const { own, ...matrix } = await readByFormat(path);
  const isOwn = own !== null && (named === null || extname(path) === '.parquet');
  return { ...matrix, ids: isOwn ? own : readSidecar(path, findSidecar(path, named)) };
}

/** `own`: the ids in the file itself, null without. */
async function readByFormat(path: string): Promise<VectorMatrix & { readonly own: readonly string[] | null }> {
  switch (extname(path)) {
    case '.npy':
      return { ...readNpy(path), own: null };
    case '.safetensors':
      return readVectorTensor(path);
    case '.parquet': {
      const { ids, ...matrix } = await readVectorParquet(path);
      return { ...matrix, own: ids };
    }
    default:
      throw new ValidationError(
        `vectors are in a file of another format: ${path}; use one that ends in ${VECTOR_FORMATS.join(', ')}`,
        { path },
      );
  }
}

function readVectorTensor(path: string): VectorMatrix & { readonly own: readonly string[] | null } {
  const { tensors, metadata } = readSafetensors(path, 'write it again');
  const { shape, data } = findTensor(path, tensors);
  const [rows, dimension] = assertMatrix(path, shape);
  const values = data instanceof Float32Array ? data : Float32Array.from(data);
  const ids = metadata[IDS];
  return { rows, dimension, values, own: ids === undefined ? null : parseIdList(ids, `metadata ${IDS} of ${path}`) };
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
