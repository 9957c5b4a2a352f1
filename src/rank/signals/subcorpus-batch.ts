import { gatherRows } from '../../core/tensors/rows.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { isListed } from '../../index/candidates/visible-turns.ts';
import type { MemoryQuestion, QueryBatch, SeedTurns } from '../../model/candidates.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';

/** The turns that a query asks: those of one conversation, or the whole corpus. */
export interface Subcorpus {
  /** null for the whole corpus. */
  readonly conversationId: string | null;
  readonly corpus: Corpus;
  /** [corpus.size] positions of its turns in the whole corpus, ascending. */
  readonly positions: Int32Array;
}

/** The places that the turns of a list have in a subcorpus; costs the shorter of the two, times the logarithm of the longer. */
function findListedPlaces({ conversationId, positions }: Subcorpus, list: Int32Array): Int32Array {
  if (conversationId === null) return list;
  const placeOf = (position: number) => findLowerBound(positions, position);
  if (list.length < positions.length) return list.filter((position) => isListed(positions, position)).map(placeOf);
  return positions.filter((position) => isListed(list, position)).map(placeOf);
}

/** The seeds that are turns of a subcorpus, by the positions that they have in it. */
function findLocalSeeds({ conversationId, positions }: Subcorpus, seeds: SeedTurns | null): SeedTurns | null {
  if (seeds === null || conversationId === null) return seeds;
  const kept = [...seeds.positions.keys()].filter((i) => isListed(positions, seeds.positions[i] as number));
  return {
    positions: Int32Array.from(kept, (i) => findLowerBound(positions, seeds.positions[i] as number)),
    weights: Float32Array.from(kept, (i) => seeds.weights[i] as number),
  };
}

/** Some queries of a batch, with the cutoffs, the lists of visible turns and the seeds that they have among the turns of a subcorpus. */
export function selectLocalBatch(
  { ids, texts, vectors, cutoffs, visible, seeds, concepts, asked }: QueryBatch,
  queryIndexes: readonly number[],
  subcorpus: Subcorpus,
): QueryBatch {
  const dimension = vectors.length / Math.max(1, cutoffs.length);
  const lists = new Map<Int32Array | null, Int32Array | null>([[null, null]]);
  const findList = (list: Int32Array | null) =>
    getOrCompute(lists, list, () => findListedPlaces(subcorpus, list as Int32Array));
  return {
    ...(ids === undefined ? {} : { ids: queryIndexes.map((queryIndex) => ids[queryIndex] as string) }),
    ...(visible === undefined
      ? {}
      : { visible: queryIndexes.map((queryIndex) => findList(visible[queryIndex] ?? null)) }),
    ...(seeds === undefined
      ? {}
      : { seeds: queryIndexes.map((queryIndex) => findLocalSeeds(subcorpus, seeds[queryIndex] ?? null)) }),
    ...(concepts === undefined
      ? {}
      : { concepts: queryIndexes.map((queryIndex) => concepts[queryIndex] as readonly string[]) }),
    ...(asked && { asked: queryIndexes.map((queryIndex) => asked[queryIndex] as MemoryQuestion) }),
    texts: queryIndexes.map((queryIndex) => texts[queryIndex] as string),
    vectors: gatherRows(vectors, dimension, queryIndexes),
    cutoffs: Int32Array.from(queryIndexes, (queryIndex) =>
      findLowerBound(subcorpus.positions, cutoffs[queryIndex] as number),
    ),
  };
}
