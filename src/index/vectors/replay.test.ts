import { expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { describeCandidateIndex } from '../candidates/candidate-contract.harness.ts';
import { openVectorIndex } from './registry.ts';
import { VectorIndexReplay } from './replay.ts';

for (const index of ['flat', 'hnsw'] as const)
  describeCandidateIndex(
    `live ${index}`,
    (corpus) => new VectorIndexReplay(index, corpus, () => openVectorIndex({ index }, corpus.dimension)),
  );

test('vectors that do not fit the ids are refused', () => {
  const open = () => openVectorIndex({ index: 'flat' }, 2);
  const turns = { ids: ['a', 'b'], vectors: new Float32Array(3), dimension: 2 };
  expect(() => new VectorIndexReplay('flat', turns, open)).toThrow(DimensionMismatchError);
});
