import { compileFilterSql } from '../../../model/filter/compile-filter-sql.ts';
import type { Distance, VectorSearchOptions } from '../../../model/vector-index.ts';
import { clampCosineDistance } from './distances.ts';
import type { SqlValue } from './sql-database.ts';

/** pgvector's operator and its class for an index. With cosine the table holds unit vectors: their negative product orders them as the cosine does. */
export const OPERATORS: Readonly<Record<Distance, { readonly operator: string; readonly operatorClass: string }>> = {
  cosine: { operator: '<#>', operatorClass: 'vector_ip_ops' },
  l2: { operator: '<->', operatorClass: 'vector_l2_ops' },
  'inner-product': { operator: '<#>', operatorClass: 'vector_ip_ops' },
};

/** The score of `raw`, what the operator returns, as `scoreDistance` computes it. */
const SCORES: Readonly<Record<Distance, string>> = {
  cosine: '(1 - greatest(0, least(2, 1 + raw)))::real',
  l2: '(1 / (1 + raw))::real',
  'inner-product': '(-raw)::real',
};

/** The distance that the operator's result stands for. */
export function readDistance(metric: Distance, raw: number): number {
  return metric === 'cosine' ? clampCosineDistance(1 + raw) : raw;
}

/** A condition on rows, with its parameters from `$2` on; `$1` is the query's vector. */
export interface SqlCondition {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** Every row with a vector. */
export const EVERY_ROW: SqlCondition = Object.freeze({ sql: 'embedding is not null', parameters: Object.freeze([]) });

/** The rows that a search may find. */
export function writeCondition({ filter, variables, visible }: VectorSearchOptions, first: number): SqlCondition {
  const parts = [EVERY_ROW.sql];
  const parameters: SqlValue[] = [];
  if (filter !== undefined) {
    const options = variables === undefined ? {} : { variables };
    const compiled = compileFilterSql(filter, undefined, { ...options, firstParameter: first });
    parts.push(`(${compiled.sql})`);
    parameters.push(...compiled.parameters);
  }
  if (visible !== undefined) {
    parts.push(`id = any($${first + parameters.length}::text[])`);
    parameters.push([...visible]);
  }
  return { sql: parts.join(' and '), parameters };
}

/** Every visible row is compared; the order is that of the tie rule. */
export function writeExactSearch(table: string, metric: Distance, condition: SqlCondition, k: number): string {
  const { operator } = OPERATORS[metric];
  return `with seen as materialized (select id, embedding ${operator} $1::vector as raw from ${table} where ${condition.sql})
    select id, raw from seen order by ${SCORES[metric]} desc, id collate "C" desc limit ${k}`;
}

/** In the order of the index of the table. */
export function writeIndexSearch(table: string, metric: Distance, condition: SqlCondition, wanted: number): string {
  const order = `embedding ${OPERATORS[metric].operator} $1::vector`;
  return `select id, ${order} as raw from ${table} where ${condition.sql} order by ${order} limit ${wanted}`;
}
