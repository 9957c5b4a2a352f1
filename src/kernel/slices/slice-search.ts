import type { CandidateIndex } from '../../model/candidates.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { VectorIndex } from '../../model/vector-index.ts';

/** A query, as the search and the reranking of a client see it. */
export interface ScopedQuery {
  readonly queryId: string;
  readonly text: string;
  /** [D]; empty for an index that compares no vectors. */
  readonly vector: Float32Array;
}

/** The turns that a query may see: a copy for one search. */
export interface AllowedTurns {
  /** Corpus positions, ascending. */
  readonly positions: Int32Array;
  readonly turnIds: ReadonlySet<string>;
  /** How many turns of the corpus are strictly earlier than the query. */
  readonly cutoff: number;
}

/** A turn that was found. */
export interface ScopedTurn {
  readonly turnId: string;
  /** Finite; higher is better. */
  readonly score: number;
}

/** Finds at most k of the allowed turns, best first. */
export type SliceSearch = (
  query: ScopedQuery,
  allowed: AllowedTurns,
  k: number,
  signal?: AbortSignal,
) => Promise<readonly ScopedTurn[]>;

/** Searches a candidate index over a corpus; the allowed turns are its list of visible turns. */
export function searchCandidates(index: CandidateIndex, corpus: Corpus): SliceSearch {
  return async ({ queryId, text, vector }, { positions, cutoff }, k) => {
    const batch = { ids: [queryId], texts: [text], vectors: vector, cutoffs: Int32Array.of(cutoff) };
    const found = await index.search({ ...batch, visible: [positions] }, k);
    return [...found.positions].flatMap((position, i) => {
      const turn = corpus.turns[position];
      return turn === undefined ? [] : [{ turnId: turn.id, score: found.scores[i] as number }];
    });
  };
}

/** Searches an index whose vectors come and go; its rows have the ids of turns. */
export function searchVectors(index: VectorIndex): SliceSearch {
  return async ({ vector }, { turnIds }, k, signal) => {
    const [matches = []] = await index.search(vector, k, { visible: turnIds, ...(signal && { signal }) });
    return matches.map(({ id, score }) => ({ turnId: id, score }));
  };
}
