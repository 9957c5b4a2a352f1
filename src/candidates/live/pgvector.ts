import { DimensionMismatchError, IndexBuildError, ValidationError } from '../../core/errors.ts';
import { compareScored } from '../../model/tie-rule.ts';
import type { Distance, VectorIndex, VectorMatch, VectorRow, VectorSearchOptions } from '../../model/vector-index.ts';
import { scoreDistance } from './distances.ts';
import { openPglite } from './pglite-database.ts';
import type { PgvectorOptions } from './pgvector-options.ts';
import { COLUMNS, decodeRow, encodeRows } from './pgvector-rows.ts';
import {
  OPERATORS,
  readDistance,
  type SqlCondition,
  writeCondition,
  writeExactSearch,
  writeIndexSearch,
} from './pgvector-search.ts';
import { connectPostgres } from './postgres-database.ts';
import { writeSavedIndex } from './saved-index.ts';
import type { SqlDatabase, SqlSession } from './sql-database.ts';
import { type PreparedRow, prepareQueries, prepareRows } from './vector-doors.ts';
import type { OpenVectorIndex, VectorIndexContext } from './vector-index-definition.ts';

/** Up to this number of visible rows, or this share of all rows, a search compares each: exact, and with a filter not slower than the index. */
const SCANNED_ROWS = 1000;
const SCANNED_SHARE = 0.1;
/** Numbers of vectors that are sent at once: 16 MiB. */
const COPIED_NUMBERS = 2 ** 22;
/** What a build may use at least; a server may allow more. A graph that does not fit is built many times slower. */
const BUILD_MEMORY = '256MB';
/** pgvector's limit for an index on float32 vectors. */
const MOST_INDEXED = 2000;
/** Locks out another process that creates the extension or the table at the same time. */
const CREATION_LOCK = 7_221_981;

/**
 * Vectors in a table of Postgres with pgvector. Filters become conditions of SQL. Where an index finds fewer rows than k, and where fewer than a thousand are
 * visible, the rows are compared one by one. The index is built when a search first meets a thousand rows, or by {@link PgvectorIndex.build}.
 */
export class PgvectorIndex implements VectorIndex {
  readonly name = 'pgvector';
  readonly dimension: number;
  readonly distance: Distance;
  readonly keepsRows: boolean;
  readonly #options: PgvectorOptions;
  readonly #database: SqlDatabase;
  readonly #table: string;
  readonly #indexName: string;
  #isIndexed = false;
  /** Rows written since an index of lists was trained, and rows that it was trained on. */
  #added = 0;
  #trainedOn = 0;
  #disposed = false;

  private constructor(options: PgvectorOptions, dimension: number, database: SqlDatabase) {
    this.dimension = dimension;
    this.distance = options.distance;
    this.keepsRows = options.url !== null || options.folder !== null;
    this.#options = options;
    this.#database = database;
    this.#table = `"${options.table}"`;
    this.#indexName = `${options.table}_embedding`;
  }

  /**
   * Makes the table, or takes over the one that is there.
   *
   * @param database disposed with the index, also if this throws.
   * @throws DimensionMismatchError, ValidationError for a table of another dimension or distance; IndexBuildError for vectors too long for an index;
   * UnavailableError without a server or without pgvector.
   */
  static async open(
    options: PgvectorOptions,
    { dimension, saved }: VectorIndexContext,
    database: SqlDatabase,
  ): Promise<PgvectorIndex> {
    try {
      assertDimension(options, dimension);
      const index = new PgvectorIndex(options, dimension, database);
      await database.transaction((session) => index.#createTable(session));
      if (saved !== undefined) await index.#restore(saved.rows);
      return index;
    } catch (error) {
      await database.dispose();
      throw error;
    }
  }

  async #createTable(session: SqlSession): Promise<void> {
    await session.query('select pg_advisory_xact_lock($1)', [CREATION_LOCK]);
    await session.query('create extension if not exists vector');
    await session.query(`create table if not exists ${this.#table} (id text collate "C" primary key,
      conversation_id text, parent_id text, created_at double precision, author text, channel text,
      attributes jsonb not null, embedding vector(${this.dimension}))`);
    const [found] = await session.query(
      `select format_type(atttypid, atttypmod) as type, obj_description(attrelid) as remark
        from pg_attribute where attrelid = $1::regclass and attname = 'embedding'`,
      [this.#table],
    );
    const type = String(found?.type);
    if (type !== `vector(${this.dimension})`)
      throw new DimensionMismatchError(
        `vectors of table ${this.#options.table}`,
        `vector(${this.dimension})`,
        type,
        'name another table',
      );
    const remark = `ragpp ${this.distance}`;
    if (found?.remark === null) await session.query(`comment on table ${this.#table} is '${remark}'`);
    else if (found?.remark !== remark)
      throw new ValidationError(
        `table ${this.#options.table} was made for another distance than ${this.distance}: ${found?.remark}; name another table`,
      );
    this.#isIndexed = await this.#hasIndex(session);
    if (this.#isIndexed) this.#trainedOn = await this.#count(session);
  }

  /** Whether the table has an index made with these options; one of others answers no search, and the next build replaces it. */
  async #hasIndex(session: SqlSession): Promise<boolean> {
    const [found] = await session.query(
      `select amname as method, array_to_string(reloptions, ', ') as settings
        from pg_class join pg_am on pg_am.oid = relam where pg_class.oid = to_regclass($1)`,
      [`"${this.#indexName}"`],
    );
    return found?.method === this.#options.method && found.settings === this.#describeSettings('=');
  }

  /** What the index of the table is made with. */
  #describeSettings(sign: string): string {
    const { method, m, efConstruction, lists } = this.#options;
    const settings = method === 'hnsw' ? { m, ef_construction: efConstruction } : { lists };
    return Object.entries(settings)
      .map(([name, value]) => `${name}${sign}${value}`)
      .join(', ');
  }

  async #restore(rows: readonly PreparedRow[]): Promise<void> {
    if ((await this.count()) > 0)
      throw new ValidationError(`table ${this.#options.table} is not empty; name an empty table for saved rows`);
    await this.#put(rows);
  }

  #run<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    if (this.#disposed) return Promise.reject(new ValidationError('index was disposed: pgvector; open it again'));
    return this.#database.transaction(work);
  }

  count(): Promise<number> {
    return this.#run((session) => this.#count(session));
  }

  async #count(session: SqlSession): Promise<number> {
    const [row] = await session.query(`select count(*)::int as count from ${this.#table}`);
    return row?.count as number;
  }

  /** The rows when the index of the table was built, or when the server last looked. */
  async #estimateCount(session: SqlSession): Promise<number> {
    const [row] = await session.query(`select reltuples::float8 as count from pg_class where oid = $1::regclass`, [
      this.#table,
    ]);
    return row?.count as number;
  }

  async upsert(rows: readonly VectorRow[]): Promise<void> {
    await this.#put(prepareRows(rows, this.dimension, this.distance));
  }

  /** Writers wait for each other, so that two of one id do not collide; searches go on. */
  #lockWriters(session: SqlSession): Promise<unknown> {
    return session.query(`lock table ${this.#table} in share row exclusive mode`);
  }

  #put(rows: readonly PreparedRow[]): Promise<void> {
    const step = Math.max(1, Math.floor(COPIED_NUMBERS / this.dimension));
    return this.#run(async (session) => {
      if (rows.length === 0) return;
      await this.#lockWriters(session);
      for (let start = 0; start < rows.length; start += step) {
        const block = rows.slice(start, start + step);
        await session.query(`delete from ${this.#table} where id = any($1::text[])`, [block.map(({ id }) => id)]);
        await session.copyIn(`${this.#table} (${COLUMNS.join(', ')})`, encodeRows(block));
      }
      this.#added += rows.length;
    });
  }

  remove(ids: readonly string[]): Promise<number> {
    return this.#run(async (session) => {
      await this.#lockWriters(session);
      const gone = await session.query(`delete from ${this.#table} where id = any($1::text[]) returning 1`, [ids]);
      return gone.length;
    });
  }

  /** Removes the index of the table as well: many rows are added faster without it. */
  async clear(): Promise<void> {
    await this.#run(async (session) => {
      await session.query(`truncate ${this.#table}`);
      await session.query(`drop index if exists "${this.#indexName}"`);
      this.#isIndexed = false;
    });
  }

  async search(queries: Float32Array, k: number, options: VectorSearchOptions = {}): Promise<VectorMatch[][]> {
    if (this.#disposed) throw new ValidationError('index was disposed: pgvector; open it again');
    const prepared = prepareQueries(queries, k, this.dimension, this.distance);
    options.signal?.throwIfAborted();
    return this.#run(async (session) => {
      const isExact = await this.#scansEveryRow(session, k, options);
      const condition = writeCondition(options, 2);
      const least = this.#chooseLeastFound(k, options);
      const found: VectorMatch[][] = [];
      for (const query of prepared) {
        options.signal?.throwIfAborted();
        if (query === null) found.push([]);
        else if (isExact) found.push(await this.#searchExactly(session, query, k, condition));
        else found.push(await this.#searchIndex(session, query, k, condition, least));
      }
      return found;
    });
  }

  /** Whether few rows are visible, or there is no index to ask; else makes the index ready. */
  async #scansEveryRow(session: SqlSession, k: number, options: VectorSearchOptions): Promise<boolean> {
    const { method } = this.#options;
    if (method === 'none' || (options.visible?.size ?? Infinity) <= SCANNED_ROWS) return true;
    const rows = this.#isIndexed ? await this.#estimateCount(session) : 0;
    const limit = Math.max(SCANNED_ROWS, k, Math.floor(SCANNED_SHARE * rows)) + 1;
    if (options.filter !== undefined || options.visible !== undefined || !this.#isIndexed) {
      const { sql, parameters } = writeCondition(options, 1);
      const [seen] = await session.query(
        `select count(*)::int as count from (select 1 from ${this.#table} where ${sql} limit ${limit}) as seen`,
        parameters,
      );
      if ((seen?.count as number) < limit) return true;
    }
    if (!this.#isIndexed || (method === 'ivfflat' && this.#added > this.#trainedOn)) await this.#build(session);
    await session.query(
      method === 'hnsw'
        ? `select set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', 'strict_order', true)`
        : `select set_config('ivfflat.probes', $1, true), set_config('ivfflat.iterative_scan', 'relaxed_order', true)`,
      [String(method === 'hnsw' ? this.#options.efSearch : this.#options.probes)],
    );
    return false;
  }

  /** Builds the index of the table now instead of in the first search; an index that is there is built again. */
  build(): Promise<void> {
    return this.#run((session) => this.#build(session));
  }

  async #build(session: SqlSession): Promise<void> {
    const { method } = this.#options;
    if (method === 'none') return;
    const { operatorClass } = OPERATORS[this.distance];
    await session.query(
      `select set_config('maintenance_work_mem', '${BUILD_MEMORY}', true)
        where pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('${BUILD_MEMORY}')`,
    );
    await this.#lockWriters(session);
    await session.query(`drop index if exists "${this.#indexName}"`);
    await session.query(
      `create index "${this.#indexName}" on ${this.#table} using ${method} (embedding ${operatorClass}) with (${this.#describeSettings(' = ')})`,
    );
    await session.query(`analyze ${this.#table}`);
    this.#trainedOn = await this.#count(session);
    this.#added = 0;
    this.#isIndexed = true;
  }

  async #searchExactly(session: SqlSession, query: Float32Array, k: number, condition: SqlCondition) {
    return this.#fetch(session, writeExactSearch(this.#table, this.distance, condition, k), query, condition);
  }

  /**
   * How many rows a search in the index asks for: more than k, so that the tie rule can choose. Among a part of the rows hnsw stops where it has as many as were asked
   * for, so that it must find efSearch of them to search as thoroughly as among all.
   */
  #chooseLeastFound(k: number, { filter, visible }: VectorSearchOptions): number {
    const { method, efSearch } = this.#options;
    const isPart = filter !== undefined || visible !== undefined;
    return method === 'hnsw' && isPart ? Math.max(k + 1, efSearch) : k + 1;
  }

  /** Asks for more than k until the last found scores less than the k-th, so that the tie rule can choose. */
  async #searchIndex(
    session: SqlSession,
    query: Float32Array,
    k: number,
    condition: SqlCondition,
    least: number,
  ): Promise<VectorMatch[]> {
    for (let wanted = least; ; wanted *= 2) {
      const sql = writeIndexSearch(this.#table, this.distance, condition, wanted);
      const found = (await this.#fetch(session, sql, query, condition)).sort(compareScored);
      if (found.length < wanted) return this.#searchExactly(session, query, k, condition);
      if (found[k - 1]!.score !== found.at(-1)!.score) return found.slice(0, k);
    }
  }

  async #fetch(
    session: SqlSession,
    sql: string,
    query: Float32Array,
    { parameters }: SqlCondition,
  ): Promise<VectorMatch[]> {
    const rows = await session.query(sql, [`[${query.join(',')}]`, ...parameters]);
    return rows.map(({ id, raw }) => {
      const distance = readDistance(this.distance, raw as number);
      return { id: id as string, score: scoreDistance(this.distance, distance), distance };
    });
  }

  async save(folder: string): Promise<void> {
    const rows = await this.#run(async (session) => {
      const columns = COLUMNS.map((column) => (column === 'embedding' ? 'embedding::text' : column)).join(', ');
      return session.query(`select ${columns} from ${this.#table} order by id`);
    });
    const { index, distance } = this.#options;
    const decoded = rows.map((row, slot) => ({ ...decodeRow(row as never), slot }));
    await writeSavedIndex(folder, { index, distance }, this.dimension, decoded, []);
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#database.dispose();
  }
}

function assertDimension({ method }: PgvectorOptions, dimension: number): void {
  if (!Number.isInteger(dimension) || dimension < 1 || dimension > 16_000)
    throw new ValidationError(`dimension is not in 1 … 16000: ${dimension}; pass the length of the vectors`);
  if (method !== 'none' && dimension > MOST_INDEXED)
    throw new IndexBuildError(
      'pgvector',
      `${method} takes vectors of at most ${MOST_INDEXED} numbers, got ${dimension}; set method: none`,
    );
}

export const openPgvector: OpenVectorIndex<PgvectorOptions> = async (options, context) => {
  const database = await (options.url === null ? openPglite(options.folder) : connectPostgres(options.url));
  return PgvectorIndex.open(options, context, database);
};
