import type { TensorOps } from '../core/tensors/tensor-op.harness.ts';
import type { CandidateIndex, QueryBatch } from '../model/candidates.ts';
import { Corpus } from '../model/turns/corpus.ts';
import { createIndex, indexOptions, loadIndex } from './registry.ts';
import { buildUnchangingRows, FlatIndex } from './vectors/flat.ts';
import { openVectorIndex } from './vectors/registry.ts';

const IDS = ['a', 'b', 'c'];
/** The last two are one. */
const VECTORS = Float32Array.of(1, 0, 0, 1, 0, 1);
const buildSoupQueries = (vectors: number[], cutoff: number): QueryBatch => ({
  texts: ['soup'],
  vectors: Float32Array.from(vectors),
  cutoffs: Int32Array.of(cutoff),
});
const corpus = new Corpus(
  IDS.map((id, i) => {
    return {
      id,
      conversationId: 'x',
      parentId: null,
      timestamp: i,
      author: null,
      channel: null,
      text: 'soup and bread',
    };
  }),
);

async function searchIndex(
  made: CandidateIndex | Promise<CandidateIndex>,
  asked: QueryBatch,
  k: number,
): Promise<unknown> {
  const index = await made;
  try {
    const { positions, scores } = await index.search(asked, k);
    return { positions, scores };
  } finally {
    index.dispose();
  }
}

const flat = (vectors: Float32Array = VECTORS) => new FlatIndex(IDS, buildUnchangingRows(vectors, 2));
const createSampleIndex = (options: object) =>
  createIndex(indexOptions.parse(options), { corpus, vectors: VECTORS, dimension: 2, seed: 1 });
/** Scores of a live index of the three vectors. */
async function searchLive(query: number[], k: number): Promise<number[]> {
  const index = await openVectorIndex({ index: 'flat' }, 2);
  try {
    await index.upsert(IDS.map((id, i) => ({ id, vector: VECTORS.slice(i * 2, (i + 1) * 2) })));
    const [matches = []] = await index.search(Float32Array.from(query), k);
    return matches.map(({ score }) => score);
  } finally {
    await index.dispose();
  }
}
const bm25 = async () => {
  const create = await loadIndex(indexOptions.parse({ index: 'bm25' }));
  return create({ corpus, vectors: VECTORS, dimension: 2, seed: 1 });
};

export const TENSOR_OPS: TensorOps = {
  FlatIndex: {
    use: () => searchIndex(flat(), buildSoupQueries([0.6, 0.8], 3), 2),
    refuses: [
      [() => searchIndex(flat(), buildSoupQueries([0.6, 0.8], 3), 0), /k is not a positive integer: 0/],
      [() => searchIndex(flat(), buildSoupQueries([3, 4], 3), 2), /vector of query 0 has length 5/],
      [() => flat(Float32Array.of(1, 0, 5, 5, 0, 0)), /vector of turn b has length 7\.07/],
    ],
    edges: {
      'zero vectors': [() => searchIndex(flat(new Float32Array(6)), buildSoupQueries([0, 0], 3), 2), [-1, -1, 0, 0]],
      duplicates: [() => searchIndex(flat(), buildSoupQueries([0, 1], 3), 2), [2, 1, 1, 1]],
      'one turn': [() => searchIndex(flat(), buildSoupQueries([1, 0], 1), 1), [0, 1]],
      'all masked': [() => searchIndex(flat(), buildSoupQueries([1, 0], 0), 1), [-1, 0]],
      'K > C': [() => searchIndex(flat(), buildSoupQueries([1, 0], 1), 3), [0, -1, -1, 1, 0, 0]],
    },
  },
  createIndex: {
    use: () => searchIndex(createSampleIndex({ index: 'flat' }), buildSoupQueries([0.6, 0.8], 3), 2),
    refuses: [
      [
        () => searchIndex(createSampleIndex({ index: 'flat' }), buildSoupQueries([1], 3), 2),
        /vectors of 1 queries of dimension 2/,
      ],
    ],
    edges: {
      'K > C': [
        () => searchIndex(createSampleIndex({ index: 'newest' }), buildSoupQueries([1, 0], 1), 2),
        [0, -1, 1, 0],
      ],
    },
  },
  openVectorIndex: {
    use: () => searchLive([0.6, 0.8], 2),
    refuses: [[() => searchLive([0.6, 0.8, 0], 2), /expected a multiple of 2, got 3/]],
    edges: {
      'zero vectors': [async () => (await searchLive([0, 0], 3)).length, [0]],
      'K > C': [() => searchLive([0, 1], 5), [1, 1, 0]],
    },
  },
  loadIndex: {
    use: () => searchIndex(bm25(), buildSoupQueries([1, 0], 3), 2),
    refuses: [[() => searchIndex(bm25(), buildSoupQueries([1, 0], 4), 2), /cutoff is out of range: 4/]],
    edges: { 'all masked': [() => searchIndex(bm25(), buildSoupQueries([1, 0], 0), 2), [-1, -1, 0, 0]] },
  },
};
