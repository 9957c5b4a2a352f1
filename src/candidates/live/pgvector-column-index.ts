import type { PgvectorOptions } from './pgvector-options.ts';
import { OPERATORS } from './pgvector-search.ts';
import type { SqlSession } from './sql-database.ts';

/** What a build may use at least; a server may allow more. A graph that does not fit is built many times slower. */
const BUILD_MEMORY = '256MB';

/** @param table in quotes. */
export async function countRows(session: SqlSession, table: string): Promise<number> {
  const [row] = await session.query(`select count(*)::int as count from ${table}`);
  return row?.count as number;
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
    if (this.isThere) this.#trainedOn = await countRows(session, this.#table);
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

  /** Builds it, also if it is there. */
  async build(session: SqlSession): Promise<void> {
    const { method, distance } = this.#options;
    if (method === 'none') return;
    await session.query(
      `select set_config('maintenance_work_mem', '${BUILD_MEMORY}', true)
        where pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('${BUILD_MEMORY}')`,
    );
    await lockWriters(session, this.#table);
    await this.drop(session);
    const column = `embedding ${OPERATORS[distance].operatorClass}`;
    await session.query(
      `create index ${this.#name} on ${this.#table} using ${method} (${column}) with (${this.#describeSettings(' = ')})`,
    );
    await session.query(`analyze ${this.#table}`);
    this.#trainedOn = await countRows(session, this.#table);
    this.added = 0;
    this.isThere = true;
  }

  /** Makes it ready for the searches of a session: builds it if it is missing or trained on fewer rows than were added, and sets their breadth. */
  async prepare(session: SqlSession): Promise<void> {
    const { method, efSearch, probes } = this.#options;
    if (!this.isThere || (method === 'ivfflat' && this.added > this.#trainedOn)) await this.build(session);
    await session.query(
      method === 'hnsw'
        ? `select set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'strict_order', true)`
        : `select set_config('ivfflat.probes', $1, true), set_config('ivfflat.iterative_scan', 'relaxed_order', true)`,
      [String(method === 'hnsw' ? efSearch : probes)],
    );
  }
}
