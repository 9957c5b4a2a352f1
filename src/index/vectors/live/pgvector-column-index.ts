import type { PgvectorOptions } from '../pgvector-options.ts';
import { OPERATORS, type SqlCondition } from './pgvector-search.ts';
import type { SqlSession } from './sql-database.ts';

/** What a build may use at least; a server may allow more. A graph that does not fit is built many times slower. */
const BUILD_MEMORY = '256MB';

/** @param table in quotes. */
export async function countRows(session: SqlSession, table: string): Promise<number> {
  const [row] = await session.query(`select count(*)::int as count from ${table}`);
  return row?.count as number;
}

/** Whether more than `count` rows of a table meet a condition, whose parameters begin with `$1`. */
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

/** The approximate index of the column of vectors: hnsw or ivfflat. One that other options made answers no search, and the next build replaces it. */
export class ColumnIndex {
  /** Whether the table has it, made with these options. */
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

  /** Whether a search can use it, or needs none. The lists of ivfflat are trained again when the table has doubled. */
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
    const { method, distance, table } = this.#options;
    await session.query(
      `select set_config('maintenance_work_mem', '${BUILD_MEMORY}', true)
        where pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('${BUILD_MEMORY}')`,
    );
    const [column, next] = [`embedding ${OPERATORS[distance].operatorClass}`, `"${table}_embedding_next"`];
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

  /** Sets how much of it the searches of a session read. */
  async setBreadth(session: SqlSession): Promise<void> {
    const { method, efSearch, probes } = this.#options;
    await session.query(
      method === 'hnsw'
        ? `select set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)`
        : `select set_config('ivfflat.probes', $1, true), set_config('ivfflat.iterative_scan', 'relaxed_order', true)`,
      [String(method === 'hnsw' ? efSearch : probes)],
    );
  }
}
