import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import type { GoldenFile } from './topic.ts';
import { verify } from './verify.ts';

const keys = [
  [1, 0],
  [0, 0],
];
/** Of one case each; that of attention is of a zero vector and a conversation that has a turn more than keys. */
const attention: GoldenFile = {
  topic: 'attention',
  note: 'a sample',
  cases: [
    {
      name: 'two keys',
      options: { combine: 'additive', temperature: 1, decay: 0 },
      ringSize: 3,
      queries: [[0, 0]],
      keys,
      values: keys,
      queryPositions: [0],
      keyPositions: [1, 2],
      expected: { weights: [[0.5, 0.5]], output: [[0.5, 0]] },
    },
  ],
};
const conservation: GoldenFile = {
  topic: 'conservation',
  note: 'a sample',
  cases: [
    {
      name: 'two records',
      embeddings: keys,
      salience: [1, 1],
      expected: { magnitude: 0.5, energy: 0.125, information: Math.LN2 },
    },
  ],
};
const mmr: GoldenFile = {
  topic: 'mmr',
  note: 'a sample',
  cases: [{ name: 'two records', embeddings: keys, relevance: [0, 1], k: 2, lambda: 0.5, expected: { order: [1, 0] } }],
};

export const TENSOR_OPS: TensorOps = {
  verify: {
    use: async () => (await verify([attention, conservation, mmr])).map(({ cases }) => cases),
    refuses: [],
    catches: true,
    edges: {
      'zero vectors': [
        async () => (await verify([attention, conservation, mmr])).map(({ failures }) => failures.length),
        [0, 0, 0],
      ],
    },
  },
};
