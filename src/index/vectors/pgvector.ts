import { IndexBuildError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import type { CandidateIndex } from '../../model/candidates.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { Distance, VectorIndex, VectorMatch, VectorRow, VectorSearchOptions } from '../../model/vector-index.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import { scoreDistance } from './distances.ts';
import type { TableLifetime } from './postgres/migrations.ts';
import { openPglite } from './postgres/pglite-database.ts';
import { COLUMNS, decodeRow, encodeRows } from './postgres/pgvector-rows.ts';
import {
  ColumnIndex,
  countRows,
  dropStatistics,
  EVERY_ROW,
  hasMoreRows,
  lockWriters,
  readDistance,
  type SqlCondition,
  takeTable,
  writeCondition,
  writeExactSearch,
  writeIndexSearch,
} from './postgres/pgvector-sql.ts';
import { connectPostgres } from './postgres/postgres-database.ts';
import { type SqlDatabase, type SqlSession, shareDatabase } from './postgres/sql-database.ts';
import { type ReplayedTurns, readReplayedTurns, VectorIndexReplay } from './replay.ts';
import { writeSavedIndex } from './saved-index.ts';
import { type PreparedRow, prepareQueries, prepareRows } from './vector-doors.ts';
import type { OpenVectorIndex, PgvectorOptions, PgvectorSourceOptions, VectorIndexContext } from './vector-kind.ts';

/**
 * Up to this number of visible rows, or this share of all rows, a search compares each: exact, in about the time that
 * the index takes behind a filter.
 */
const SCANNED_ROWS = 1000;
const SCANNED_SHARE = 0.1;
/** Numbers of vectors that are sent at once: 16 MiB. */
const COPIED_NUMBERS = 2 ** 22;
/** pgvector's limits for an index. */
const MOST_INDEXED = { vector: 2000, halfvec: 4000 } as const;
/** The least number that binary16 rounds to infinity. */
const TOO_LARGE_HALF = 65520;

/**
 * Vectors in a table of Postgres with pgvector. Filters become conditions of SQL. Where an index finds fewer rows than
 * k, and where fewer than a thousand are visible, the rows are compared one by one. The index is built when a search
 * first meets more than a thousand rows, or before by {@link PgvectorIndex.build}.
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
  readonly #inTurn = createSerialRunner();
  readonly #lifetime: TableLifetime;
  #disposed = false;

  private constructor(options: PgvectorOptions, dimension: number, database: SqlDatabase, lifetime: TableLifetime) {
    this.dimension = dimension;
    this.distance = options.distance;
    this.keepsRows = lifetime === 'kept' && (options.url !== null || options.folder !== null);
    this.#lifetime = lifetime;
    this.#options = options;
    this.#database = database;
    this.#table = `"${options.table}"`;
    this.#index = new ColumnIndex(options);
  }

  /**
   * Makes the table, or takes over the one that is there.
   *
   * @param database disposed with the index, also if this throws.
   * @param lifetime `session`: the table belongs to the one connection of the database, and is dropped with the index.
   * @throws DimensionMismatchError, ValidationError for a table of another dimension or distance; IndexBuildError for
   *   vectors too long for an index; UnavailableError without a server or without pgvector.
   */
  static async open(
    options: PgvectorOptions,
    { dimension, saved }: VectorIndexContext,
    database: SqlDatabase,
    lifetime: TableLifetime = 'kept',
  ): Promise<PgvectorIndex> {
    try {
      assertDimension(options, dimension);
      assertScan(options);
      const index = new PgvectorIndex(options, dimension, database, lifetime);
      await database.transaction(async (session) => {
        await takeTable(session, { ...options, dimension }, lifetime);
        await index.#index.take(session);
      });
      if (saved !== undefined) await index.#restore(saved.rows);
      return index;
    } catch (error) {
      await database.dispose();
      throw error;
    }
  }

  async #restore(rows: readonly PreparedRow[]): Promise<void> {
    if ((await this.count()) > 0)
      throw new ValidationError(`table ${this.#options.table} is not empty; name an empty table for saved rows`);
    if (this.#options.storage === 'halfvec') assertHalf(rows.map(({ vector }) => vector));
    await this.#put(rows);
  }

  #assertInUse(): void {
    if (this.#disposed) throw new ValidationError('index was disposed: pgvector; open it again');
  }

  async #run<T>(work: (session: SqlSession) => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#assertInUse();
    return this.#database.transaction(work, signal);
  }

  /** Writes follow each other in the order of their calls, in one connection. */
  #write<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#run(work));
  }

  count(): Promise<number> {
    return this.#run((session) => countRows(session, this.#table));
  }

  async upsert(rows: readonly VectorRow[]): Promise<void> {
    const prepared = prepareRows(rows, this.dimension, this.distance);
    if (this.#options.storage === 'halfvec') assertHalf(prepared.map(({ vector }) => vector));
    await this.#put(prepared);
  }

  async #put(rows: readonly PreparedRow[]): Promise<void> {
    const step = Math.max(1, Math.floor(COPIED_NUMBERS / this.dimension));
    await this.#write(async (session) => {
      if (rows.length === 0) return;
      await lockWriters(session, this.#table);
      for (let start = 0; start < rows.length; start += step) {
        const block = rows.slice(start, start + step);
        await session.query(`delete from ${this.#table} where id = any($1::text[])`, [block.map(({ id }) => id)]);
        await session.copyIn(`${this.#table} (${COLUMNS.join(', ')})`, encodeRows(block, this.#options.storage));
      }
    });
    this.#index.added += rows.length;
  }

  remove(ids: readonly string[]): Promise<number> {
    return this.#write(async (session) => {
      await lockWriters(session, this.#table);
      const gone = await session.query(`delete from ${this.#table} where id = any($1::text[]) returning 1`, [ids]);
      return gone.length;
    });
  }

  /**
   * Writes the table to new files. Its index is dropped before, and built again by a later search. The log of a server,
   * its copies and its backups have removed rows for longer.
   */
  compact(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#lifetime === 'session') return;
      await this.#run(async (session) => {
        await lockWriters(session, this.#table);
        await this.#index.drop(session);
        await dropStatistics(session, { ...this.#options, dimension: this.dimension });
      });
      await this.#database.vacuum(this.#options.table);
    });
  }

  /** Removes the index of the table as well: many rows are added faster without it. */
  clear(): Promise<void> {
    return this.#write(async (session) => {
      await session.query(`truncate ${this.#table}`);
      await this.#index.drop(session);
    });
  }

  async search(queries: Float32Array, k: number, options: VectorSearchOptions = {}): Promise<VectorMatch[][]> {
    this.#assertInUse();
    const prepared = prepareQueries(queries, k, this.dimension, this.distance);
    if (this.#options.storage === 'halfvec') assertHalf(prepared);
    options.signal?.throwIfAborted();
    const isExact = await this.#scansEveryRow(k, options);
    if (!isExact) await this.build();
    return this.#run(async (session) => {
      if (!isExact) await this.#index.setBreadth(session);
      const condition = writeCondition(options, 2);
      const least = this.#chooseLeastFound(k, options);
      const found: VectorMatch[][] = [];
      for (const query of prepared) {
        if (query === null) found.push([]);
        else if (isExact) found.push(await this.#searchExactly(session, query, k, condition));
        else found.push(await this.#searchIndex(session, query, k, condition, least));
      }
      return found;
    }, options.signal);
  }

  /** True if a search compares every visible row: where few are visible, and where the table has no index. */
  async #scansEveryRow(k: number, options: VectorSearchOptions): Promise<boolean> {
    if (this.#options.method === 'none' || (options.visible?.size ?? Infinity) <= SCANNED_ROWS) return true;
    const { isThere } = this.#index;
    if (isThere && options.filter === undefined && options.visible === undefined) return false;
    return this.#run(async (session) => {
      const rows = isThere ? await this.#index.estimateRows(session) : 0;
      const limit = Math.max(SCANNED_ROWS, k, Math.floor(SCANNED_SHARE * rows));
      return !(await hasMoreRows(session, this.#table, writeCondition(options, 1), limit));
    }, options.signal);
  }

  async build(): Promise<void> {
    this.#assertInUse();
    if (this.#index.isReady) return;
    if (!(await this.#run((session) => hasMoreRows(session, this.#table, EVERY_ROW, SCANNED_ROWS)))) return;
    try {
      await this.#write((session) => this.#index.bringUp(session));
    } catch (error) {
      this.#index.forget(); // what the transaction built is gone
      throw error;
    }
  }

  async #searchExactly(session: SqlSession, query: Float32Array, k: number, condition: SqlCondition) {
    return this.#fetch(session, writeExactSearch(this.#options, condition, k), query, condition);
  }

  /**
   * How many rows a search in the index asks for: more than k, so that the tie rule can choose. Among a part of the
   * rows an iterative scan stops where it has as many as were asked for, so that it must find efSearch of them to search
   * as thoroughly as among all.
   */
  #chooseLeastFound(k: number, { filter, visible }: VectorSearchOptions): number {
    const { method, efSearch, iterativeScan } = this.#options;
    const isPart = filter !== undefined || visible !== undefined;
    return method === 'hnsw' && isPart && iterativeScan !== 'off' ? Math.max(k + 1, efSearch) : k + 1;
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
      const sql = writeIndexSearch(this.#options, condition, wanted);
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
    const drop = (session: SqlSession) => session.query(`drop table if exists ${this.#table}`);
    // A connection that was lost has taken its table with it.
    if (this.#lifetime === 'session') await this.#database.transaction(drop).catch(() => {});
    await this.#database.dispose();
  }
}

/** @throws ValidationError for a number that a column of `halfvec` cannot hold. */
function assertHalf(vectors: readonly (Float32Array | null)[]): void {
  for (const vector of vectors) {
    const wrong = vector?.find((number) => Math.abs(number) >= TOO_LARGE_HALF);
    if (wrong !== undefined)
      throw new ValidationError(`halfvec holds numbers below ${TOO_LARGE_HALF}: ${wrong}; set storage: vector`);
  }
}

function assertScan({ method, iterativeScan }: PgvectorOptions): void {
  if (method === 'ivfflat' && iterativeScan === 'strict_order')
    throw new ValidationError(
      `ivfflat has no iterative scan in this order: ${iterativeScan}; set iterativeScan: relaxed_order or off`,
    );
}

function assertDimension({ method, storage }: PgvectorOptions, dimension: number): void {
  if (!Number.isInteger(dimension) || dimension < 1 || dimension > 16_000)
    throw new ValidationError(`dimension is not in 1 … 16000: ${dimension}; pass the length of the vectors`);
  const { [storage]: most } = MOST_INDEXED;
  if (method !== 'none' && dimension > most)
    throw new IndexBuildError(
      'pgvector',
      `${method} takes vectors of at most ${most} numbers as ${storage}, got ${dimension}; set method: none`,
    );
}

/** The caller disposes it. */
export const openDatabase = ({ url, folder }: Pick<PgvectorOptions, 'url' | 'folder'>): Promise<SqlDatabase> =>
  url === null ? openPglite(folder) : connectPostgres(url);

export const openPgvector: OpenVectorIndex<PgvectorOptions> = async (options, context) =>
  PgvectorIndex.open(options, context, await openDatabase(options));

/** Numbers the tables of this process, which no other sees. */
let tables = 0;

/** @throws UnavailableError if the variable is not set. */
function readUrl(variable: string | null): string | null {
  if (variable === null) return null;
  const url = process.env[variable]?.trim();
  if (url !== undefined && url !== '') return url;
  throw new UnavailableError(
    'index pgvector',
    `the environment variable ${variable} is not set; export postgres://user:password@host:port/database, or set urlVariable: null`,
  );
}

/** The database of the replays of this process: one connection, since the tables of a replay belong to theirs. */
export function openReplayDatabase(url: string | null): Promise<SqlDatabase> {
  if (url === null) return shareDatabase('replays in memory', () => openPglite(null));
  return shareDatabase(`replays at ${url}`, () => connectPostgres(url, { connections: 1 }));
}

/**
 * Turns in a temporary table of Postgres, by replay. Vectors are of length 1 or zero, so that every distance orders
 * them as the cosine does.
 *
 * @throws UnavailableError if the variable of the connection string is not set; a search without a server or without
 *   PGlite.
 */
export function replayInPostgres(options: PgvectorSourceOptions, turns: ReplayedTurns): CandidateIndex {
  const { k: _, urlVariable, ...column } = options;
  const url = readUrl(urlVariable);
  const open = async () => {
    const table = { ...column, url, folder: null, distance: 'cosine', table: `ragpp_replay_${++tables}` } as const;
    const database = await openReplayDatabase(url);
    return PgvectorIndex.open(table, { dimension: turns.dimension }, database, 'session');
  };
  return new VectorIndexReplay('pgvector', turns, open);
}

export function createPgvector(options: PgvectorSourceOptions, context: IndexContext): CandidateIndex {
  return replayInPostgres(options, readReplayedTurns(context));
}
