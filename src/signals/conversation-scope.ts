import { getOrCompute } from '../core/once.ts';
import { gatherRows } from '../core/rows.ts';
import type { QueryBatch } from '../model/candidates.ts';
import { conversationPositions } from '../model/conversation-positions.ts';
import { Corpus, lowerBound } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import type { PoolRows } from './candidate-pool.ts';

/** The turns that a query asks: those of one conversation, or the whole corpus. */
export interface Scope {
  /** null for the whole corpus. */
  readonly conversationId: string | null;
  readonly corpus: Corpus;
  /** [corpus.size] positions of its turns in the whole corpus, ascending. */
  readonly positions: Int32Array;
}

/** Queries that ask the same turns. */
export interface ScopedQueries {
  readonly scope: Scope;
  /** Their places in the batch. */
  readonly places: readonly number[];
  /** The queries themselves, as the scope's corpus sees them. */
  readonly batch: QueryBatch;
}

/** The scopes of a corpus, each made once. */
export class Scopes {
  readonly #corpus: Corpus;
  readonly #made = new Map<number, Scope>();
  #positions: readonly Int32Array[] | null = null;

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
  }

  /** @param conversation place in `corpus.conversations`, -1 for the whole corpus. */
  #of(conversation: number): Scope {
    return getOrCompute(this.#made, conversation, () => this.#make(conversation));
  }

  #make(conversation: number): Scope {
    const corpus = this.#corpus;
    const asked = corpus.conversations[conversation];
    if (asked === undefined) return { conversationId: null, corpus, positions: Int32Array.from(corpus.turns.keys()) };
    this.#positions ??= conversationPositions(corpus);
    const positions = this.#positions[conversation] as Int32Array;
    return { conversationId: asked.id, corpus: new Corpus(asked.turns), positions };
  }

  /** A batch in parts that ask the same turns, in the order of their first queries. */
  split(batch: QueryBatch): ScopedQueries[] {
    const groups = new Map<number, number[]>();
    for (const place of batch.cutoffs.keys()) {
      const conversation = batch.conversations?.[place] ?? -1;
      const group = groups.get(conversation);
      if (group === undefined) groups.set(conversation, [place]);
      else group.push(place);
    }
    return Array.from(groups, ([conversation, places]) => {
      const scope = this.#of(conversation);
      const isAll = scope.conversationId === null && places.length === batch.cutoffs.length;
      return { scope, places, batch: isAll ? batch : localBatch(batch, places, scope) };
    });
  }
}

/** Some queries of a batch, with the cutoffs that they have among the turns of a scope. */
function localBatch({ texts, vectors, cutoffs }: QueryBatch, places: readonly number[], scope: Scope): QueryBatch {
  const dimension = vectors.length / Math.max(1, cutoffs.length);
  return {
    texts: places.map((place) => texts[place] as string),
    vectors: gatherRows(vectors, dimension, places),
    cutoffs: Int32Array.from(places, (place) => lowerBound(scope.positions, cutoffs[place] as number)),
  };
}

/**
 * [Q] which conversation each query asks alone, -1 for those that ask the whole corpus.
 *
 * @throws ValidationError for a conversation that the corpus does not hold.
 */
export function askedConversations(corpus: Corpus, queries: readonly Query[]): Int32Array {
  const places = new Map(corpus.conversations.map(({ id }, place) => [id, place]));
  return Int32Array.from(queries, ({ conversationId }) =>
    conversationId === undefined ? -1 : (places.get(corpus.conversation(conversationId).id) as number),
  );
}

/** For each scope that is asked a query without a text and a direction, as early as the earliest. */
export function nothingAsked(scopes: Scopes, batch: QueryBatch): QueryBatch {
  const earliest = scopes.split(batch).map(({ places }) => {
    const cutoffOf = (place: number) => batch.cutoffs[place] as number;
    return places.reduce((least, place) => (cutoffOf(place) < cutoffOf(least) ? place : least));
  });
  const dimension = batch.vectors.length / Math.max(1, batch.cutoffs.length);
  return {
    texts: earliest.map(() => ''),
    vectors: new Float32Array(earliest.length * dimension),
    cutoffs: Int32Array.from(earliest, (place) => batch.cutoffs[place] as number),
    conversations: Int32Array.from(earliest, (place) => batch.conversations?.[place] ?? -1),
  };
}

/**
 * Some rows of a pool by the positions that they have in a scope.
 *
 * @returns row-major [places, C]; -1 where the pool is padded.
 */
export function localRows({ positions }: Scope, pool: PoolRows, places: readonly number[]): Int32Array {
  const local = new Int32Array(places.length * pool.width).fill(-1);
  for (const [row, place] of places.entries()) {
    for (let i = 0; i < pool.width; i++) {
      const position = pool.positions[place * pool.width + i] as number;
      if (position >= 0) local[row * pool.width + i] = lowerBound(positions, position);
    }
  }
  return local;
}

/**
 * The rows of a scope's turns.
 *
 * @param vectors row-major [N, D]
 * @returns row-major [turns of the scope, D]; for the whole corpus the vectors themselves.
 */
export function scopedVectors(scope: Scope, vectors: Float32Array, dimension: number): Float32Array {
  return scope.conversationId === null ? vectors : gatherRows(vectors, dimension, scope.positions);
}
