import { expect, test } from 'vitest';
import { describeCandidateIndex } from './candidate-contract.harness.ts';
import { NewestFirstIndex } from './top-selection.ts';

describeCandidateIndex('newest', ({ ids }) => new NewestFirstIndex(ids.length));

test('the turn just before the query comes first, with a score that falls with its rank', async () => {
  const batch = { texts: ['a', 'b'], vectors: new Float32Array(0), cutoffs: Int32Array.of(5, 2) };
  const { positions, scores } = await new NewestFirstIndex(7).search(batch, 3);
  expect([...positions]).toEqual([4, 3, 2, 1, 0, -1]);
  expect([...scores]).toEqual([1, 0.5, Math.fround(1 / 3), 1, 0.5, 0]);
});
