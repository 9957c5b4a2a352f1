import { parquetWriteBuffer } from 'hyparquet-writer';
import { NotFiniteError } from '../../core/errors/errors.ts';
import type { ArmResult, ExperimentResult } from '../measure/result.ts';

/** One query's value in one arm. @throws NotFiniteError with arm and query if it is missing. */
function readQueryValue(arm: ArmResult, metric: string, queryId: string, q: number): number {
  const value = arm.perQuery[metric]?.[q] ?? Number.NaN;
  if (!Number.isFinite(value)) throw new NotFiniteError(metric, `arm ${arm.name}, query ${queryId}`, value);
  return value;
}

/**
 * The rows of per-query.jsonl as Parquet, in the same order: `query`, `cluster` and `arm` as strings, one double a metric, nothing nullable.
 *
 * @throws NotFiniteError for a value that is missing or not finite.
 */
export function encodePerQueryParquet({ queries, arms, metrics }: ExperimentResult): Uint8Array {
  const buildStringColumn = (name: string, data: string[]) => ({
    name,
    data,
    type: 'STRING' as const,
    nullable: false,
  });
  const columnData = [
    buildStringColumn(
      'query',
      queries.flatMap(({ id }) => arms.map(() => id)),
    ),
    buildStringColumn(
      'cluster',
      queries.flatMap(({ cluster }) => arms.map(() => cluster)),
    ),
    buildStringColumn(
      'arm',
      queries.flatMap(() => arms.map(({ name }) => name)),
    ),
    ...metrics.map((name) => ({
      name,
      data: Float64Array.from(queries.flatMap(({ id }, q) => arms.map((arm) => readQueryValue(arm, name, id, q)))),
      type: 'DOUBLE' as const,
      nullable: false,
    })),
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
