import { getOrCompute } from '../core/once.ts';
import { gatherRows } from '../core/rows.ts';
import type { QueryBatch } from '../model/candidates.ts';
import { listConversationPositions } from '../model/conversation-positions.ts';
import { Corpus, findLowerBound } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import type { PoolRows } from './candidate-pool.ts';

/** The turns that a query asks: those of one conversation, or the whole corpus. */
export interface Subcorpus {
  /** null for the whole corpus. */
  readonly conversationId: string | null;
  readonly corpus: Corpus;
  /** [corpus.size] positions of its turns in the whole corpus, ascending. */
  readonly positions: Int32Array;
}

/** Queries that ask the same turns. */
export interface SubcorpusQueries {
  readonly subcorpus: Subcorpus;
  /** Their places in the batch. */
  readonly queryIndexes: readonly number[];
  /** The queries themselves, as the subcorpus's corpus sees them. */
  readonly batch: QueryBatch;
}

/** The subcorpora of a corpus, each made once. */
export class Subcorpora {
  readonly #corpus: Corpus;
  readonly #made = new Map<number, Subcorpus>();
  #positions: readonly Int32Array[] | null = null;

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
  }

  /** @param conversation place in `corpus.conversations`, -1 for the whole corpus. */
  #makeScope(conversation: number): Subcorpus {
    return getOrCompute(this.#made, conversation, () => this.#make(conversation));
  }

  #make(conversation: number): Subcorpus {
    const corpus = this.#corpus;
    const asked = corpus.conversations[conversation];
    if (asked === undefined) return { conversationId: null, corpus, positions: Int32Array.from(corpus.turns.keys()) };
    this.#positions ??= listConversationPositions(corpus);
    const positions = this.#positions[conversation] as Int32Array;
    return { conversationId: asked.id, corpus: new Corpus(asked.turns), positions };
  }

  /** A batch in parts that ask the same turns, in the order of their first queries. */
  split(batch: QueryBatch): SubcorpusQueries[] {
    const groups = new Map<number, number[]>();
    for (const queryIndex of batch.cutoffs.keys()) {
      const conversation = batch.conversations?.[queryIndex] ?? -1;
      const group = groups.get(conversation);
      if (group === undefined) groups.set(conversation, [queryIndex]);
      else group.push(queryIndex);
    }
    return Array.from(groups, ([conversation, queryIndexes]) => {
      const subcorpus = this.#makeScope(conversation);
      const isAll = subcorpus.conversationId === null && queryIndexes.length === batch.cutoffs.length;
      return { subcorpus, queryIndexes, batch: isAll ? batch : selectLocalBatch(batch, queryIndexes, subcorpus) };
    });
  }
}

/** Some queries of a batch, with the cutoffs that they have among the turns of a subcorpus. */
function selectLocalBatch(
  { texts, vectors, cutoffs }: QueryBatch,
  queryIndexes: readonly number[],
  subcorpus: Subcorpus,
): QueryBatch {
  const dimension = vectors.length / Math.max(1, cutoffs.length);
  return {
    texts: queryIndexes.map((queryIndex) => texts[queryIndex] as string),
    vectors: gatherRows(vectors, dimension, queryIndexes),
    cutoffs: Int32Array.from(queryIndexes, (queryIndex) =>
      findLowerBound(subcorpus.positions, cutoffs[queryIndex] as number),
    ),
  };
}

/**
 * [Q] which conversation each query asks alone, -1 for those that ask the whole corpus.
 *
 * @throws ValidationError for a conversation that the corpus does not hold.
 */
export function listAskedConversations(corpus: Corpus, queries: readonly Query[]): Int32Array {
  const queryIndexes = new Map(corpus.conversations.map(({ id }, queryIndex) => [id, queryIndex]));
  return Int32Array.from(queries, ({ conversationId }) =>
    conversationId === undefined ? -1 : (queryIndexes.get(corpus.getConversation(conversationId).id) as number),
  );
}

/** For each subcorpus that is asked a query without a text and a direction, as early as the earliest. */
export function buildWarmUpBatch(subcorpora: Subcorpora, batch: QueryBatch): QueryBatch {
  const earliest = subcorpora.split(batch).map(({ queryIndexes }) => {
    const readQueryCutoff = (queryIndex: number) => batch.cutoffs[queryIndex] as number;
    return queryIndexes.reduce((least, queryIndex) =>
      readQueryCutoff(queryIndex) < readQueryCutoff(least) ? queryIndex : least,
    );
  });
  const dimension = batch.vectors.length / Math.max(1, batch.cutoffs.length);
  return {
    texts: earliest.map(() => ''),
    vectors: new Float32Array(earliest.length * dimension),
    cutoffs: Int32Array.from(earliest, (queryIndex) => batch.cutoffs[queryIndex] as number),
    conversations: Int32Array.from(earliest, (queryIndex) => batch.conversations?.[queryIndex] ?? -1),
  };
}

/**
 * Some rows of a pool by the positions that they have in a subcorpus.
 *
 * @returns row-major [places, C]; -1 where the pool is padded.
 */
export function mapLocalRows({ positions }: Subcorpus, pool: PoolRows, queryIndexes: readonly number[]): Int32Array {
  const local = new Int32Array(queryIndexes.length * pool.width).fill(-1);
  for (const [row, queryIndex] of queryIndexes.entries()) {
    for (let i = 0; i < pool.width; i++) {
      const position = pool.positions[queryIndex * pool.width + i] as number;
      if (position >= 0) local[row * pool.width + i] = findLowerBound(positions, position);
    }
  }
  return local;
}

/**
 * The rows of a subcorpus's turns.
 *
 * @param vectors row-major [N, D]
 * @returns row-major [turns of the subcorpus, D]; for the whole corpus the vectors themselves.
 */
export function selectScopeVectors(subcorpus: Subcorpus, vectors: Float32Array, dimension: number): Float32Array {
  return subcorpus.conversationId === null ? vectors : gatherRows(vectors, dimension, subcorpus.positions);
}

/**
 * A column computed one subcorpus at a time.
 *
 * @param score the rows of a part, row-major [queries of the part, C], from the positions that its candidates have in the subcorpus, -1 for padding
 * @returns row-major [Q, C]
 */
export async function scoreBySubcorpus(
  { subcorpora, batch }: { readonly subcorpora: Subcorpora; readonly batch: QueryBatch },
  pool: PoolRows,
  score: (part: SubcorpusQueries, positions: Int32Array) => Promise<Float32Array> | Float32Array,
): Promise<Float32Array> {
  const { width } = pool;
  const column = new Float32Array(pool.positions.length);
  for (const part of subcorpora.split(batch)) {
    const { subcorpus, queryIndexes } = part;
    const scores = await score(part, mapLocalRows(subcorpus, pool, queryIndexes));
    for (const [row, query] of queryIndexes.entries())
      column.set(scores.subarray(row * width, (row + 1) * width), query * width);
  }
  return column;
}
