import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '../../../src/core/tensors/backend.ts';
import type { FeatureTable } from '../../../src/rank/learning/feature-table.ts';
import { standardiseSignals } from '../../../src/rank/learning/standardisation.ts';
import { train } from '../../../src/rank/learning/training.ts';
import { buildTrainingOptions, drawLearningWorkload, LEARNING_RATE } from '../../learning-workload.ts';
import { compareNumbers, type PeerSize, readSettings, type WorkGroup, writeSettings } from '../work.ts';

const SIZES = {
  small: { queries: 503, candidates: 50, signals: 16, epochs: 20 },
  published: { queries: 10_000, candidates: 100, signals: 16, epochs: 100 },
} as const satisfies Record<PeerSize, object>;
/** Losses and weights may differ by it: float32, summed in another order. */
const TOLERANCE = 1e-4;
const WORK = 'train/listwise';

/** The grades' shares of each row. */
function computeGradeShares({ grades, width }: FeatureTable): Float32Array {
  return grades.map((grade, pair) => {
    const start = pair - (pair % width);
    return grade === 0 ? 0 : grade / grades.subarray(start, start + width).reduce((sum, other) => sum + other, 0);
  });
}

/** The peer gets standardised signals, which our side computes each time. */
function prepareTable(folder: string, size: PeerSize, seed: number): void {
  const { table, model } = drawLearningWorkload({ ...SIZES[size], seed });
  writeFileSync(join(folder, 'features.f32'), standardiseSignals(table, model.signals, model.standardisation));
  writeFileSync(join(folder, 'shares.f32'), computeGradeShares(table));
  const settings = { ...SIZES[size], learningRate: LEARNING_RATE };
  writeSettings(folder, { ...readSettings<object>(folder), ...settings });
}

/** A linear mix of signals fitted by listwise cross-entropy with Adam: the losses of all epochs, and the weights. */
export const learning: WorkGroup = {
  listWorks: () => [WORK],
  peers: [{ name: 'torch', requirements: 'torch-requirements.txt' }],
  describe: (size) => {
    const { queries, candidates, signals, epochs } = SIZES[size];
    return `${signals} signals of ${candidates} candidates of ${queries.toLocaleString('en')} queries, ${epochs} epochs of Adam with all queries in a step; torch gets standardised signals, which ours computes`;
  },
  prepare: prepareTable,
  open: async (folder, backend) => {
    await useBackend(backend);
    const { size, seed } = readSettings<{ readonly size: PeerSize; readonly seed: number }>(folder);
    const { table, model } = drawLearningWorkload({ ...SIZES[size], seed });
    const options = buildTrainingOptions({ epochs: SIZES[size].epochs, seed });
    return {
      [WORK]: async () => {
        const { curve, theta } = await train(model, table, null, { ...options, steps: 'host' });
        return () => Float64Array.from([...curve.slice(1).map(({ loss }) => loss as number), ...theta]);
      },
    };
  },
  compare: (_work, ours, theirs) => compareNumbers(ours, theirs, TOLERANCE),
};
