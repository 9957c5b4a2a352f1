import { DimensionMismatchError } from '../../../core/errors/errors.ts';
import { viewRow } from '../../../core/tensors/rows.ts';
import type { RowFaults } from '../../../data/jsonl/row-faults.ts';
import { readVectorRows } from '../../../index/encoders/precomputed/vector-file.ts';
import type { LocatedRecord, ReadRows } from './read-files.ts';

/** Gives records the vectors of a file, by id if the file has ids, else by order. A record without a vector, or with two, is a fault. @throws DimensionMismatchError for another number of rows without ids. */
export async function attachVectors(
  { located, rows }: ReadRows,
  path: string,
  faults: RowFaults,
): Promise<LocatedRecord[]> {
  const file = await readVectorRows(path);
  if (file.ids === null && file.rows !== rows)
    throw new DimensionMismatchError(
      `vectors of ${path}, which has no ids`,
      `${rows}, one for each row`,
      file.rows,
      'write one vector for each row, or ids',
    );
  const rowOf = file.ids === null ? null : new Map(file.ids.map((id, row) => [id, row]));
  return located.flatMap((entry) => {
    const { where, offset, record } = entry;
    const row = rowOf === null ? offset : rowOf.get(record.id);
    if (row === undefined) faults.add(where, 'missing vector', `${record.id} has no row in ${path}; add one`);
    else if (record.embedding !== null)
      faults.add(where, 'two vectors', `${record.id} has an embedding, and a row in ${path}; leave one out`);
    else return [{ ...entry, record: { ...record, embedding: viewRow(file.values, file.dimension, row).slice() } }];
    return [];
  });
}
