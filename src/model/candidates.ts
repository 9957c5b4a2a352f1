import type { StartProgress } from '../core/terminal/progress.ts';

/** Turns that other sources found for a query: where an index that walks from turn to turn starts. */
export interface SeedTurns {
  /** [S] corpus positions, once each. */
  readonly positions: Int32Array;
  /** [S] from 0. */
  readonly weights: Float32Array;
}

/** What a question asks of memories. */
export interface MemoryQuestion {
  /** Canonical ids or named things, as the turns have them. */
  readonly entities: readonly string[];
  /** The first and the last millisecond that it is about; null: no time. */
  readonly window: { readonly start: number; readonly end: number } | null;
  /** True if it is about a process. */
  readonly procedural: boolean;
  /** The names of each record of a database that it finds, as words in lower case; absent: it finds none. */
  readonly records?: readonly (readonly string[])[];
}

/** Q queries as a candidate index sees them. */
export interface QueryBatch {
  /** [Q] for the indexes that know queries by id; absent where they are unknown. An empty id is of no query. */
  readonly ids?: readonly string[];
  readonly texts: readonly string[];
  /** Row-major [Q, D]. */
  readonly vectors: Float32Array;
  /** [Q] how many leading turns of the corpus exist for each query: `corpus.cutoff(query.timestamp)`. */
  readonly cutoffs: Int32Array;
  /**
   * [Q] the conversation that each query asks alone, an index in `corpus.conversations`; -1, or absent: the whole
   * corpus.
   */
  readonly conversations?: Int32Array;
  /**
   * [Q] the turns that each query may see besides: corpus positions, ascending, once each; null: every turn. Absent: every turn for every query. The cutoff and the
   * conversation hold as well. Queries that share a list share the same array, so that an index prepares the list once.
   */
  readonly visible?: readonly (Int32Array | null)[];
  /** [Q] the turns where the walks of each query start; null, or absent: none. Only an index that walks reads them. */
  readonly seeds?: readonly (SeedTurns | null)[];
  /** [Q] the concepts of each text, for an index that joins turns by concepts; it lists them itself where they are absent. */
  readonly concepts?: readonly (readonly string[])[];
  /** [Q] what each question asks of memories; the sources of memories need it. */
  readonly asked?: readonly MemoryQuestion[];
}

/** The best turns for each of Q queries, C places each. */
export interface Candidates {
  /** Row-major [Q, C] corpus positions, best first by the tie rule; -1 where a query has fewer. */
  readonly positions: Int32Array;
  /** Row-major [Q, C]; 0 where the position is -1. */
  readonly scores: Float32Array;
  /** C. */
  readonly width: number;
}

/** Finds candidates in a time-ordered corpus, each query among the turns before its time. */
export interface CandidateIndex {
  readonly name: string;
  /** The best k turns for each query among the first `cutoffs[q]` of the corpus that `visible[q]` lists; queries may be in any order. */
  search(queries: QueryBatch, k: number, progress?: StartProgress): Promise<Candidates>;
  dispose(): void;
}
