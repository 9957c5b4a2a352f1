import { join } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { readJsonLines } from '../../core/files/json-lines.ts';
import { parse } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';

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
