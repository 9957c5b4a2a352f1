import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { fromTurns } from '../../data/memory/from-turns.ts';
import { search } from '../../rank/retrieval/steps/functions.ts';
import { definePlugin } from '../plugins/plugin.ts';
import { experiment } from './experiment.ts';
import { assertSignalContract } from './signal-contract.ts';

const HOUR_MILLISECONDS = 3_600_000;
const turns = Array.from({ length: 7 }, (_, i) => ({
  id: `t${i}`,
  conversationId: `c${i % 2}`,
  timestamp: i * HOUR_MILLISECONDS,
  text: `remark ${i}`,
}));
const data = fromTurns(turns, [{ id: 'q', text: 'remark 3' }], { q: ['t3'] });
const arms = { words: [search({ bm25: {} })] };

/** A signal of age, and one of chance. */
let draws = 0;
const plugin = definePlugin({
  name: 'sample-signals',
  version: 1,
  signals: [
    { name: 'sample-age', summary: 'rank in time', score: ({ position }) => position },
    { name: 'sample-chance', summary: 'another each time', score: () => draws++ },
  ],
});

export const TENSOR_OPS: TensorOps = {
  assertSignalContract: {
    use: () => assertSignalContract(plugin, 'sample-age', { data }),
    refuses: [[() => assertSignalContract(plugin, 'sample-chance', { data }), /differs when it is computed again/]],
  },
  experiment: {
    use: () => experiment({ data, arms }).config.arms.length,
    refuses: [[() => experiment({ data, arms: {} }), /arms: expected/]],
  },
};
