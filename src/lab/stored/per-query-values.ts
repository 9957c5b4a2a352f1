import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { z } from 'zod';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { readJsonLines } from '../../core/files/text-lines.ts';
import { parse } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { ArmResult, ExperimentResult } from '../measure/result.ts';

/** One query's value in one arm. @throws NotFiniteError with arm and query if it is missing. */
function readQueryValue(arm: ArmResult, metric: string, queryId: string, q: number): number {
  const value = arm.perQuery[metric]?.[q] ?? Number.NaN;
  if (!Number.isFinite(value)) throw new NotFiniteError(metric, `arm ${arm.name}, query ${queryId}`, value);
  return value;
}

/**
 * The rows of per-query.jsonl as Parquet, in the same order: `query`, `cluster` and `arm` as strings, one double a
 * metric, nothing nullable.
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

/** The values of a run query by query, as per-query.jsonl holds them. Q queries. */
export interface PerQueryValues {
  /** [Q] */
  readonly queries: readonly string[];
  /** [Q] */
  readonly clusters: readonly string[];
  /** By arm and metric, [Q]. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;
}

const lineSchema = z.object({ query: z.string(), cluster: z.string(), arm: z.string() }).catchall(z.number());

function parseLine(line: string, where: string): z.output<typeof lineSchema> {
  try {
    return parse(lineSchema, JSON.parse(line), where);
  } catch (error) {
    throw new ValidationError(
      `line has no values of a query: ${where}; run the experiment again`,
      { where },
      { cause: error },
    );
  }
}

/** @throws StorageError, or ValidationError naming the line that holds no values, and the arm that lacks a query. */
export function readPerQuery(folder: string): PerQueryValues {
  const path = join(folder, 'per-query.jsonl');
  const clusters = new Map<string, string>();
  const values = new Map<string, Map<string, number[]>>();
  for (const { query, cluster, arm, ...figures } of readJsonLines(path, parseLine)) {
    clusters.set(query, cluster);
    const columns = getOrCompute(values, arm, () => new Map<string, number[]>());
    for (const [metric, value] of Object.entries(figures)) {
      const column = getOrCompute(columns, metric, () => []);
      if (column.push(value) !== clusters.size)
        throw new ValidationError(`${path} does not have every query once for arm: ${arm}; run the experiment again`, {
          path,
          arm,
        });
    }
  }
  for (const [arm, columns] of values)
    for (const column of columns.values())
      if (column.length !== clusters.size)
        throw new ValidationError(`${path} does not have every query once for arm: ${arm}; run the experiment again`, {
          path,
          arm,
        });
  return { queries: [...clusters.keys()], clusters: [...clusters.values()], values };
}
