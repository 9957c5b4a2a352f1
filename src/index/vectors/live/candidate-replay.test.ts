import { expect, test } from 'vitest';
import { DimensionMismatchError } from '../../../core/errors/errors.ts';
import { describeCandidateIndex } from '../../candidates/candidate-contract.harness.ts';
import { asCandidateIndex } from './candidate-replay.ts';
import { openVectorIndex } from './registry.ts';

for (const index of ['flat', 'hnsw'] as const)
  describeCandidateIndex(`live ${index}`, (corpus) =>
    asCandidateIndex(index, corpus, () => openVectorIndex({ index }, corpus.dimension)),
  );

test('vectors that do not fit the ids are refused', () => {
  const open = () => openVectorIndex({ index: 'flat' }, 2);
  const turns = { ids: ['a', 'b'], vectors: new Float32Array(3), dimension: 2 };
  expect(() => asCandidateIndex('flat', turns, open)).toThrow(DimensionMismatchError);
});
