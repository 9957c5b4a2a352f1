import { DimensionMismatchError, IndexBuildError, ValidationError } from '../../core/errors.ts';
import { compareScored } from '../../model/tie-rule.ts';
import type { Distance, VectorIndex, VectorMatch, VectorRow, VectorSearchOptions } from '../../model/vector-index.ts';
import { scoreDistance } from './distances.ts';
import { openPglite } from './pglite-database.ts';
import { ColumnIndex, countRows, lockWriters } from './pgvector-column-index.ts';
import type { PgvectorOptions } from './pgvector-options.ts';
import { COLUMNS, decodeRow, encodeRows } from './pgvector-rows.ts';
import {
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

/** Up to this number of visible rows, or this share of all rows, a search compares each: exact, in about the time that the index takes behind a filter. */
const SCANNED_ROWS = 1000;
const SCANNED_SHARE = 0.1;
/** Numbers of vectors that are sent at once: 16 MiB. */
const COPIED_NUMBERS = 2 ** 22;
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
  readonly #index: ColumnIndex;
  #disposed = false;

  private constructor(options: PgvectorOptions, dimension: number, database: SqlDatabase) {
    this.dimension = dimension;
    this.distance = options.distance;
    this.keepsRows = options.url !== null || options.folder !== null;
    this.#options = options;
    this.#database = database;
    this.#table = `"${options.table}"`;
    this.#index = new ColumnIndex(options);
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
    await this.#index.take(session);
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
    return this.#run((session) => countRows(session, this.#table));
  }

  async upsert(rows: readonly VectorRow[]): Promise<void> {
    await this.#put(prepareRows(rows, this.dimension, this.distance));
  }

  #put(rows: readonly PreparedRow[]): Promise<void> {
    const step = Math.max(1, Math.floor(COPIED_NUMBERS / this.dimension));
    return this.#run(async (session) => {
      if (rows.length === 0) return;
      await lockWriters(session, this.#table);
      for (let start = 0; start < rows.length; start += step) {
        const block = rows.slice(start, start + step);
        await session.query(`delete from ${this.#table} where id = any($1::text[])`, [block.map(({ id }) => id)]);
        await session.copyIn(`${this.#table} (${COLUMNS.join(', ')})`, encodeRows(block));
      }
      this.#index.added += rows.length;
    });
  }

  remove(ids: readonly string[]): Promise<number> {
    return this.#run(async (session) => {
      await lockWriters(session, this.#table);
      const gone = await session.query(`delete from ${this.#table} where id = any($1::text[]) returning 1`, [ids]);
      return gone.length;
    });
  }

  /** Removes the index of the table as well: many rows are added faster without it. */
  async clear(): Promise<void> {
    await this.#run(async (session) => {
      await session.query(`truncate ${this.#table}`);
      await this.#index.drop(session);
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
    if (this.#options.method === 'none' || (options.visible?.size ?? Infinity) <= SCANNED_ROWS) return true;
    const { isThere } = this.#index;
    if (options.filter !== undefined || options.visible !== undefined || !isThere) {
      const rows = isThere ? await this.#index.estimateRows(session) : 0;
      const limit = Math.max(SCANNED_ROWS, k, Math.floor(SCANNED_SHARE * rows)) + 1;
      const { sql, parameters } = writeCondition(options, 1);
      const [seen] = await session.query(
        `select count(*)::int as count from (select 1 from ${this.#table} where ${sql} limit ${limit}) as seen`,
        parameters,
      );
      if ((seen?.count as number) < limit) return true;
    }
    await this.#index.prepare(session);
    return false;
  }

  /** Builds the index of the table now instead of in the first search; an index that is there is built again. */
  build(): Promise<void> {
    return this.#run((session) => this.#index.build(session));
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
