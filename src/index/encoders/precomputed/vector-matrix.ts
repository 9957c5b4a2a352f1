import { ValidationError } from '../../../core/errors/errors.ts';

/** The vectors of a file, as they are written. */
export interface VectorMatrix {
  readonly rows: number;
  /** D. */
  readonly dimension: number;
  /** Row-major [rows, D]. */
  readonly values: Float32Array;
}

/** @throws ValidationError for a shape other than [rows, dimension], both at least 1. */
export function assertMatrix(file: string, shape: readonly number[]): readonly [number, number] {
  const [rows, dimension] = shape;
  if (shape.length !== 2 || !rows || !dimension)
    throw new ValidationError(
      `${file} has an array of shape [${shape.join(', ')}], expected [vectors, dimension]; save a matrix with one vector in each row`,
      { file, shape },
    );
  return [rows, dimension];
}
