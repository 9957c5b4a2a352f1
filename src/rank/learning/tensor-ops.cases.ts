import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import type { Own, TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { crossValidate, fitPoint, fitWithSelection, type SelectionPlan } from './cross-validation.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { createFixedSource, type FeatureTable, selectQueries } from './feature-table.ts';
import type { HyperParameters } from './fitting.ts';
import { buildWholeFold, splitByCluster } from './folds.ts';
import { refitWithoutEach, selectGreedily } from './greedy-selection.ts';
import { computeRawWeights, createLinearModel } from './linear-model.ts';
import { computeQueryLosses, uploadLossTargets } from './losses.ts';
import { decomposeTable, scoreTable } from './model.ts';
import { coordinateAscent, randomSearch, searchOnTable } from './parameter-search.ts';
import { countParameters } from './parameters.ts';
import { type TrainingOptions, train } from './training.ts';
import { createTrajectoryModel } from './trajectory-model.ts';
import { drawTrajectoryTable } from './trajectory-table.fixture.ts';
import { assertFits, readWeights, type Weights, writeWeights } from './weight-file.ts';

const signals = ['a', 'b'];
const table = drawHandmadeTable({ queries: 4, candidates: 3, clusters: 4, signals, weights: [1, -1], seed: 3 });
const plain = { means: new Float64Array(2), deviations: new Float64Array(2).fill(1) };
const linear = createLinearModel({ signals, nonNegative: [], initial: {} }, plain);
const trajectory = createTrajectoryModel({ dimensions: 3, self: 'include' });
const initial = Float64Array.from(trajectory.parameters.flatMap((spec) => spec.initial));
const trajectoryTable = drawTrajectoryTable(2, 3, 3, 5);
const clearValues = (of: FeatureTable): FeatureTable => ({ ...of, values: new Float32Array(of.values.length) });
const maskAll = (of: FeatureTable): FeatureTable => ({ ...clearValues(of), mask: new Uint8Array(of.mask.length) });
/** One query with two equal candidates, one of them relevant. */
const twins: FeatureTable = {
  ...selectQueries(table, [0]),
  width: 2,
  values: Float32Array.of(1, 2, 1, 2),
  mask: Uint8Array.of(1, 1),
  grades: Float32Array.of(1, 0),
};

const loss = { name: 'infonce', temperature: 1 } as const;
const buildLossCase = (own: Own, scores: number[], of: FeatureTable) => {
  const targets = uploadLossTargets(of, loss);
  own(targets.shares);
  own(targets.masks);
  return computeQueryLosses(own(tf.tensor2d(scores, [of.queryIds.length, of.width])), targets, loss);
};
const options: TrainingOptions = {
  loss,
  learningRate: 0.1,
  l2: 0,
  epochs: 2,
  patience: 2,
  batchSize: 3,
  seed: 1,
  startNoise: 0,
};
const selection = { ...options, l2: 0.01, sizes: [1, 2] };
const plan: SelectionPlan = { modelOf: () => linear, points: [{ ...options, epochs: 1 }], innerFolds: 2, seeds: [1] };
const idlePlan = { ...plan, points: [{ ...options, epochs: 0 }] };
const evaluateNegative = async ([x]: Float64Array) => -Math.abs(x as number);
const search = { budget: 3, seed: 1 };

const provenance = { config: {}, dataHash: '', seeds: [1], commit: '', backend: 'cpu', trainingClusters: ['c'] };
const weights: Weights = { model: linear, values: Float64Array.of(1, -1), provenance };
/** Writes weights to a folder that is there while they are used. */
const storeWeights = (of: Weights, use: (path: string) => number[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-weights-'));
  try {
    const path = join(folder, 'weights.safetensors');
    writeWeights(path, of);
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
const wrong = { ...weights, values: Float64Array.of(1) };

export const TENSOR_OPS: TensorOps = {
  coordinateAscent: {
    use: async () => (await coordinateAscent(linear, evaluateNegative, search)).values,
    refuses: [
      [
        () => coordinateAscent(linear, evaluateNegative, { budget: 0, seed: 1 }),
        /budget is not an integer from 1: 0; pass a number of evaluations/,
      ],
    ],
  },
  randomSearch: {
    use: async () => (await randomSearch(linear, evaluateNegative, search)).values,
    refuses: [
      [
        () => randomSearch(linear, evaluateNegative, { budget: 0.5, seed: 1 }),
        /budget is not an integer from 1: 0.5; pass a number of evaluations/,
      ],
    ],
  },
  searchOnTable: {
    use: async () =>
      (await searchOnTable(linear, table, 'ndcg@10', (asked) => randomSearch(linear, asked, search))).value,
    refuses: [[() => searchOnTable(linear, table, 'map', async () => 0), /has no cutoff: map; /]],
  },
  crossValidate: {
    use: async () => (await crossValidate(createFixedSource(table), splitByCluster(table).slice(0, 1), plan)).scores,
    refuses: [
      [
        () => crossValidate(createFixedSource(table), splitByCluster(table), { ...plan, seeds: [] }),
        /^selection of 0 seeds; /,
      ],
    ],
    edges: {
      'zero vectors': [
        async () =>
          (await crossValidate(createFixedSource(clearValues(table)), splitByCluster(table), idlePlan)).scores,
        new Array<number>(12).fill(0),
      ],
    },
  },
  fitPoint: {
    use: async () => (await fitPoint(table, plan.points[0] as HyperParameters, plan)).values,
    refuses: [
      [() => fitPoint(table, plan.points[0] as HyperParameters, { ...plan, seeds: [] }), /^selection of 0 seeds; /],
    ],
  },
  fitWithSelection: {
    use: async () => (await fitWithSelection(createFixedSource(table), buildWholeFold(table), plan)).values,
    refuses: [
      [
        () => fitWithSelection(createFixedSource(table), buildWholeFold(table), { ...plan, innerFolds: 5 }),
        /^4 clusters cannot be divided into 5 folds/,
      ],
    ],
  },
  createLinearModel: {
    use: () => createLinearModel({ signals, nonNegative: [], initial: {} }, plain).parameters.length,
    refuses: [
      [
        () => createLinearModel({ signals, nonNegative: ['c'], initial: {} }, plain),
        /names a signal that is not in the model: c; /,
      ],
    ],
  },
  computeRawWeights: { use: () => Object.values(computeRawWeights(linear, Float64Array.of(1, 2))), refuses: [] },
  uploadLossTargets: {
    use: () => {
      const { shares, masks } = uploadLossTargets(table, loss);
      return [shares, masks];
    },
    refuses: [[() => uploadLossTargets(maskAll(table), loss), /^none of \d+ queries has a relevant candidate/]],
  },
  computeQueryLosses: {
    use: (own) => buildLossCase(own, [3, 1, 2, 1, 0, 5, 1, 1, 1, 2, 3, 2], table),
    refuses: [[(own) => buildLossCase(own, [1, 2, 3], table), /./]],
    edges: {
      duplicates: [(own) => buildLossCase(own, [7, 7], twins), [Math.LN2]],
      'zero vectors': [(own) => buildLossCase(own, [0, 0], twins), [Math.LN2]],
    },
  },
  scoreTable: {
    use: () => scoreTable(trajectory, initial, trajectoryTable),
    refuses: [[() => scoreTable(trajectory, initial, table), /^unknown signal: cosine; use one of a, b/]],
    edges: {
      duplicates: [() => scoreTable(linear, Float64Array.of(1, -1), twins), [-1, -1]],
      'all masked': [() => scoreTable(trajectory, initial, maskAll(trajectoryTable)), [0, 0, 0, 0, 0, 0]],
      // Nothing is relevant and all stand where the query does: the trajectory's and the attention's share are all that is left.
      'zero vectors': [
        () => scoreTable(trajectory, initial, clearValues(selectQueries(trajectoryTable, [0]))),
        [1, 1, 1],
      ],
    },
  },
  decomposeTable: {
    use: async () => [...(await decomposeTable(trajectory, initial, trajectoryTable)).values()],
    refuses: [[() => decomposeTable(trajectory, initial, table), /^unknown signal: cosine; use one of a, b/]],
    edges: {
      // a plain sum over its signals
      duplicates: [async () => [(await decomposeTable(linear, Float64Array.of(1, -1), twins)).size], [0]],
      'all masked': [
        async () => (await decomposeTable(trajectory, initial, maskAll(trajectoryTable))).get('trajectory'),
        [0, 0, 0, 0, 0, 0],
      ],
      // As for scoreTable: the trajectory's share of .8, and that of the attention among three.
      'zero vectors': [
        async () => {
          const parts = await decomposeTable(trajectory, initial, clearValues(selectQueries(trajectoryTable, [0])));
          return parts.get('trajectory');
        },
        [0.8, 0.8, 0.8],
      ],
    },
  },
  train: {
    use: async () => [
      (await train(linear, table, table, options)).values,
      (await train(trajectory, trajectoryTable, null, { ...options, epochs: 1 })).values,
    ],
    refuses: [
      [() => train(linear, maskAll(table), null, options), /^none of \d+ queries has a relevant candidate/],
      [() => train(trajectory, table, null, options), /unknown signal/],
      [() => train(linear, table, trajectoryTable, options), /unknown signal/],
    ],
    edges: {
      duplicates: [async () => (await train(linear, twins, null, options)).values, [0, 0]],
    },
  },
  selectGreedily: {
    use: async () => (await selectGreedily(linear, table, table, selection)).values,
    refuses: [
      [() => selectGreedily(linear, maskAll(table), null, selection), /^none of \d+ queries has a relevant candidate/],
      [() => selectGreedily(trajectory, trajectoryTable, null, selection), /: trajectory; use model linear$/],
      [() => selectGreedily(linear, table, trajectoryTable, selection), /unknown signal/],
    ],
    edges: {
      duplicates: [async () => (await selectGreedily(linear, twins, null, selection)).values, [0, 0]],
    },
  },
  refitWithoutEach: {
    use: () => refitWithoutEach(linear, table, { values: Float64Array.of(1, -1), path: signals }, selection),
    refuses: [],
  },
  createTrajectoryModel: {
    use: () => countParameters(createTrajectoryModel({ dimensions: 7, self: 'exclude' })),
    refuses: [],
  },
  assertFits: {
    use: () => {
      assertFits(weights, signals);
      return signals.length;
    },
    refuses: [
      [
        () => assertFits(weights, ['a']),
        /need missing signals: b \(?.*; use a bank that has them \(available are a\)$/,
      ],
    ],
  },
  readWeights: {
    use: () => storeWeights(weights, (path) => [...readWeights(path).values]),
    refuses: [[() => readWeights('/nowhere/x'), /cannot read/]],
  },
  writeWeights: {
    use: () => storeWeights(weights, () => [1]),
    refuses: [[() => storeWeights(wrong, () => []), /parameter values: expected 2, got 1/]],
  },
};
