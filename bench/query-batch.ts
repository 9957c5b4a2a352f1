import type { QueryBatch } from '../src/model/candidates.ts';

/** One query of a batch by itself. */
export function selectQuery({ texts, vectors, cutoffs, visible }: QueryBatch, at: number): QueryBatch {
  const dimension = vectors.length / cutoffs.length;
  return {
    texts: texts.slice(at, at + 1),
    vectors: vectors.slice(at * dimension, (at + 1) * dimension),
    cutoffs: cutoffs.slice(at, at + 1),
    ...(visible === undefined ? {} : { visible: visible.slice(at, at + 1) }),
  };
}
