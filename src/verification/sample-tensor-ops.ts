import type { TensorOps } from '../core/sample-tensor-op.ts';
import type { GoldenFile } from './topic.ts';
import { OWN_GOLDEN, readGolden, verify } from './verify.ts';

const keys = [
  [1, 0],
  [0, 0],
];
/** One case, of a zero vector and a conversation that has a turn more than keys. */
const file: GoldenFile = {
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

export const TENSOR_OPS: TensorOps = {
  readGolden: {
    use: () => readGolden(OWN_GOLDEN).length,
    refuses: [[() => readGolden('/nowhere'), /cannot read folder/]],
  },
  verify: { use: async () => (await verify([file])).map(({ cases }) => cases), refuses: [], catches: true },
};
