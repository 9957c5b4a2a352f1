import { DimensionMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import { compileFilterSql } from '../../../model/filter/compile-filter-sql.ts';
import type { Distance, VectorSearchOptions } from '../../../model/vector-index.ts';
import { clampCosineDistance } from '../distances.ts';
import type { PgvectorOptions } from '../vector-kind.ts';
import { listColumnTypes, migrateTable, nameVectorType, type TableLifetime, type TableOptions } from './migrations.ts';
import type { SqlDatabase, SqlSession, SqlValue } from './sql-database.ts';

/** The texts of a row of a table, or of the statistics that the server has of a column. */
export interface TableTexts {
  readonly kind: 'row' | 'statistics';
  /** The id of the row, or the name of the column. */
  readonly name: string;
  readonly texts: readonly string[];
}

/** Rows that are read at once. */
const READ_ROWS = 1000;

const toTexts = (values: readonly unknown[]) => values.flatMap((value) => (typeof value === 'string' ? [value] : []));

/** The texts of every row and of the statistics of a table; none if it does not exist. */
export async function* readTableTexts(database: SqlDatabase, table: string): AsyncGenerator<TableTexts> {
  const ask = (sql: string, parameters: readonly SqlValue[]) =>
    database.transaction((session) => session.query(sql, parameters));
  const [found] = await ask('select to_regclass($1) is null as missing', [`"${table}"`]);
  if (found?.missing === true) return;
  const columns = 'id, conversation_id, parent_id, author, channel, attributes::text as attributes';
  for (let after = ''; ; ) {
    const rows = await ask(`select ${columns} from "${table}" where id > $1 order by id limit ${READ_ROWS}`, [after]);
    for (const row of rows) yield { kind: 'row', name: String(row.id), texts: toTexts(Object.values(row)) };
    if (rows.length < READ_ROWS) break;
    after = String(rows.at(-1)?.id);
  }
  const known = await ask(
    'select attname, most_common_vals::text as common, histogram_bounds::text as bounds from pg_stats where tablename = $1',
    [table],
  );
  for (const { attname, common, bounds } of known)
    yield { kind: 'statistics', name: String(attname), texts: toTexts([common, bounds]) };
}

/**
 * Drops what the server knows of the values of a table, such as the most common ones. A server counts the values of an
 * empty table never again.
 */
export async function dropStatistics(session: SqlSession, options: TableOptions): Promise<void> {
  const table = `"${options.table}"`;
  const [found] = await session.query(`select relkind from pg_class where oid = $1::regclass`, [table]);
  if (found?.relkind !== 'r') return; // the key of a table in partitions keeps its type
  const changes = Object.entries(listColumnTypes(options)).map(
    ([name, type]) => `alter column ${name} type ${type.replace(' not null', '')}`,
  );
  await session.query(`alter table ${table} ${changes.join(', ')}`);
}

/**
 * Makes a table of vectors if it is missing, brings an older one up to date, and checks that it is one of an index. A
 * standby has the table of its primary.
 *
 * @throws DimensionMismatchError, ValidationError for one that is there with another dimension, storage or distance.
 */
export async function takeTable(session: SqlSession, options: TableOptions, lifetime: TableLifetime): Promise<void> {
  const { table, distance } = options;
  const [mode] = await session.query(`select current_setting('transaction_read_only') as read_only`);
  const mayWrite = mode?.read_only === 'off';
  await migrateTable(session, options, lifetime, mayWrite);
  const [found] = await session.query(
    `select format_type(atttypid, atttypmod) as type, obj_description(attrelid) as remark
      from pg_attribute where attrelid = $1::regclass and attname = 'embedding'`,
    [`"${table}"`],
  );
  const [type, expected] = [String(found?.type), nameVectorType(options)];
  if (type !== expected)
    throw new DimensionMismatchError(`vectors of table ${table}`, expected, type, 'name another table');
  const remark = `ragpp ${distance}`;
  if (found?.remark === null && mayWrite) await session.query(`comment on table "${table}" is '${remark}'`);
  else if (found?.remark !== remark)
    throw new ValidationError(
      `table ${table} was made for another distance than ${distance}: ${found?.remark}; name another table`,
    );
}

/**
 * pgvector's operator and its class for an index. With cosine a table of `vector` holds unit vectors: their negative
 * product orders them as the cosine does. Those of `halfvec` are rounded, and no longer of length 1.
 */
function chooseOperator({ storage, distance }: PgvectorOptions): readonly [operator: string, operatorClass: string] {
  if (distance === 'l2') return ['<->', `${storage}_l2_ops`];
  if (distance === 'cosine' && storage === 'halfvec') return ['<=>', 'halfvec_cosine_ops'];
  return ['<#>', `${storage}_ip_ops`];
}

/** The order of the vectors beside the query, `$1`, and the `raw` value that {@link readDistance} takes. */
function writeOrder(options: PgvectorOptions): readonly [order: string, raw: string] {
  const [operator] = chooseOperator(options);
  const order = `embedding ${operator} $1::${options.storage}`;
  return [order, operator === '<=>' ? `(${order}) - 1` : order];
}

/** The score of `raw`, the distance or the negative product, as `scoreDistance` computes it. */
const SCORES: Readonly<Record<Distance, string>> = {
  cosine: '(1 - greatest(0, least(2, 1 + raw)))::real',
  l2: '(1 / (1 + raw))::real',
  'inner-product': '(-raw)::real',
};

/** The distance of a `raw` value. */
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
export function writeExactSearch(options: PgvectorOptions, condition: SqlCondition, k: number): string {
  return `with seen as materialized (select id, ${writeOrder(options)[1]} as raw from "${options.table}" where ${condition.sql})
    select id, raw from seen order by ${SCORES[options.distance]} desc, id collate "C" desc limit ${k}`;
}

/** In the order of the index of the table. */
export function writeIndexSearch(options: PgvectorOptions, condition: SqlCondition, wanted: number): string {
  const [order, raw] = writeOrder(options);
  return `select id, ${raw} as raw from "${options.table}" where ${condition.sql} order by ${order} limit ${wanted}`;
}

/**
 * Memory that a build may use at least; a server may allow more. A graph that does not fit is built many times slower.
 */
const BUILD_MEMORY = '256MB';

/** @param table in quotes. */
export async function countRows(session: SqlSession, table: string): Promise<number> {
  const [row] = await session.query(`select count(*)::int as count from ${table}`);
  return row?.count as number;
}

/** True if more than `count` rows of a table meet a condition, whose parameters begin with `$1`. */
export async function hasMoreRows(
  session: SqlSession,
  table: string,
  { sql, parameters }: SqlCondition,
  count: number,
): Promise<boolean> {
  const [seen] = await session.query(
    `select count(*)::int as count from (select 1 from ${table} where ${sql} limit ${count + 1}) as seen`,
    parameters,
  );
  return (seen?.count as number) > count;
}

/** Writers wait for each other, so that two of one id do not collide; searches go on. */
export function lockWriters(session: SqlSession, table: string): Promise<unknown> {
  return session.query(`lock table ${table} in share row exclusive mode`);
}

/**
 * The approximate index of the column of vectors: hnsw or ivfflat. One that other options made answers no search, and
 * the next build replaces it.
 */
export class ColumnIndex {
  /** True if the table has it, made with these options. */
  isThere = false;
  /** Rows written since it was built. */
  added = 0;
  /** Rows that its lists were trained on. */
  #trainedOn = 0;
  readonly #options: PgvectorOptions;
  readonly #table: string;
  readonly #name: string;

  constructor(options: PgvectorOptions) {
    this.#options = options;
    this.#table = `"${options.table}"`;
    this.#name = `"${options.table}_embedding"`;
  }

  /** Looks whether the table has it. */
  async take(session: SqlSession): Promise<void> {
    const [found] = await session.query(
      `select amname as method, array_to_string(reloptions, ', ') as settings
        from pg_class join pg_am on pg_am.oid = relam where pg_class.oid = to_regclass($1)`,
      [this.#name],
    );
    this.isThere = found?.method === this.#options.method && found.settings === this.#describeSettings('=');
    if (!this.isThere || this.#options.method !== 'ivfflat') return;
    this.#trainedOn = await countRows(session, this.#table);
    this.added = 0;
  }

  /** True if a search can use it, or needs none. The lists of ivfflat are trained again when the table has doubled. */
  get isReady(): boolean {
    const { method } = this.#options;
    if (method === 'none') return true;
    return this.isThere && (method !== 'ivfflat' || this.added <= this.#trainedOn);
  }

  /** To be called when a transaction failed: looks again before the next search. */
  forget(): void {
    this.isThere = false;
  }

  #describeSettings(sign: string): string {
    const { method, m, efConstruction, lists } = this.#options;
    const settings = method === 'hnsw' ? { m, ef_construction: efConstruction } : { lists };
    return Object.entries(settings)
      .map(([name, value]) => `${name}${sign}${value}`)
      .join(', ');
  }

  /** The rows of the table when the index was built, or when the server last looked. */
  async estimateRows(session: SqlSession): Promise<number> {
    const [row] = await session.query(`select reltuples::float8 as count from pg_class where oid = $1::regclass`, [
      this.#table,
    ]);
    return row?.count as number;
  }

  async drop(session: SqlSession): Promise<void> {
    await session.query(`drop index if exists ${this.#name}`);
    this.isThere = false;
  }

  /**
   * Builds it, if no other client has done so meanwhile. The former index answers searches until the end.
   *
   * @param session which has not read the table: two clients with a lock for readers would each wait for the other.
   */
  async bringUp(session: SqlSession): Promise<void> {
    await lockWriters(session, this.#table);
    if (!this.isThere) await this.take(session);
    if (!this.isReady) await this.#build(session);
  }

  async #build(session: SqlSession): Promise<void> {
    const { method, table } = this.#options;
    await session.query(
      `select set_config('maintenance_work_mem', '${BUILD_MEMORY}', true)
        where pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('${BUILD_MEMORY}')`,
    );
    const [column, next] = [`embedding ${chooseOperator(this.#options)[1]}`, `"${table}_embedding_next"`];
    await session.query(
      `create index ${next} on ${this.#table} using ${method} (${column}) with (${this.#describeSettings(' = ')})`,
    );
    await this.drop(session);
    await session.query(`alter index ${next} rename to ${this.#name}`);
    await session.query(`analyze ${this.#table}`);
    this.#trainedOn = await countRows(session, this.#table);
    this.added = 0;
    this.isThere = true;
  }

  /** Sets how the searches of a transaction read it. */
  async setBreadth(session: SqlSession): Promise<void> {
    const { method, efSearch, probes, iterativeScan } = this.#options;
    const [name, breadth] = method === 'hnsw' ? ['hnsw.ef_search', efSearch] : ['ivfflat.probes', probes];
    await session.query(
      `select set_config('${name}', $1, true), set_config('${method}.iterative_scan', '${iterativeScan}', true)`,
      [String(breadth)],
    );
  }
}
