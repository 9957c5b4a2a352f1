import type { Filter, FilterSubject, FilterVariables } from './filter/filter.ts';

/** How two vectors are compared. */
export type Distance = 'cosine' | 'l2' | 'inner-product';

/** A vector with its id and what filters read of it. */
export interface VectorRow {
  readonly id: string;
  /** [D], finite. */
  readonly vector: Float32Array;
  /** The fields and attributes that filters read; a turn is one. Its id is that of the row. Absent: a row without any. */
  readonly subject?: FilterSubject;
}

/** A row that a search found. */
export interface VectorMatch {
  readonly id: string;
  /** Higher is better: the cosine; 1 / (1 + distance) of L2; the inner product. */
  readonly score: number;
  /** Lower is better: 1 - cosine; the Euclidean distance; the negative inner product. */
  readonly distance: number;
}

/** What a search may see, and how it is stopped. */
export interface VectorSearchOptions {
  readonly filter?: Filter;
  /** Values of `$query` in the filter. */
  readonly variables?: FilterVariables;
  /** The ids that may be found, besides the filter. Absent: every id. */
  readonly visible?: ReadonlySet<string>;
  /** Stops the search before its next query; a server of a database in the middle of one. */
  readonly signal?: AbortSignal;
}

/**
 * Vectors by id that may be added, replaced and removed at any time. Searches and writes may overlap: writes follow each other in the order of
 * their calls, and a search sees whole writes.
 *
 * Rows are finite, of length at most 1e18; ids and texts are well-formed Unicode without U+0000. With cosine a zero vector has no direction: the index keeps
 * the row, but no query finds it, and a zero query finds nothing. The other distances compare zero vectors as any other.
 */
export interface VectorIndex {
  readonly name: string;
  /** D. */
  readonly dimension: number;
  readonly distance: Distance;
  /** True if the rows outlive the process without `save`, as those of a database do. */
  readonly keepsRows?: boolean;
  /** The most rows that it holds; absent: no limit of its own. */
  readonly capacity?: number;
  /** Removes every row. Of an index that keeps rows, and where this is faster than to open a new one. */
  clear?(): Promise<void>;
  /** How many rows the index holds. */
  count(): Promise<number>;
  /**
   * Adds rows; replaces those of the same id. Of two rows with one id the later is kept.
   *
   * @param isFixed true if their vectors never change, so that they need not be copied; false by default.
   * @throws IndexCapacityError for more rows than the index holds; then no row is added.
   */
  upsert(rows: readonly VectorRow[], isFixed?: boolean): Promise<void>;
  /** @returns how many of the ids were there. */
  remove(ids: readonly string[]): Promise<number>;
  /** Frees the vectors of removed rows. Of an index that keeps them after {@link VectorIndex.remove}. */
  compact?(): Promise<void>;
  /** Does now what the next search would do before its first query, so that the search takes its own time alone. Nothing happens where the index is ready. */
  build(): Promise<void>;
  /**
   * The best k of the rows that each query may see, in the order of the tie rule; all of them if there are fewer.
   *
   * @param queries row-major [Q, D]
   * @returns [Q] rankings
   */
  search(queries: Float32Array, k: number, options?: VectorSearchOptions): Promise<VectorMatch[][]>;
  /** Writes the index into a folder, from which it can be reopened. */
  save(folder: string): Promise<void>;
  /** Frees what the index holds. Later calls are errors. */
  dispose(): Promise<void>;
}
