import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { createModelMaker } from '../../src/lab/training/fitted-methods.ts';
import { drawHandmadeTable } from '../../src/rank/learning/feature-table.fixture.ts';
import { createFixedSource, selectQueries } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { fitModel } from '../../src/rank/learning/fitting.ts';
import { splitByCluster } from '../../src/rank/learning/folds.ts';
import { scoreTable } from '../../src/rank/learning/model.ts';
import { TRAINING_DEFAULTS } from '../../src/rank/learning/training.ts';
import { measureEpochs } from './study.ts';

beforeAll(() => useBackend('wasm'));

test('after each epoch a question is measured by weights that have not seen its conversation', async () => {
  const signals = ['a', 'b'];
  const table = drawHandmadeTable({
    queries: 30,
    candidates: 9,
    clusters: 3,
    signals,
    weights: [-2, 1],
    noise: 0.2,
    seed: 4,
  });
  const modelOf = createModelMaker({ name: 'linear', signals: null, nonNegative: [], initial: { b: 1 } });
  const trainings = [0.2, 0].map((learningRate) => ({
    ...TRAINING_DEFAULTS,
    learningRate,
    patience: 1,
    startNoise: 0,
  }));
  const given = { modelOf, metric: 'recall@2', epochs: 6, seed: 1 };
  const done: number[] = [];
  const [learned, still] = await measureEpochs(createFixedSource(table), trainings, given, (count) => done.push(count));
  expect(done).toEqual([1, 2, 3, 4, 5, 6]);
  expect(learned).toHaveLength(7);
  expect(learned?.at(-1)).toBeGreaterThan(learned![0]! + 0.1);
  expect(new Set(still).size).toBe(1);
  let sum = 0;
  for (const { training, heldOut } of splitByCluster(table)) {
    const [rows, held] = [selectQueries(table, training), selectQueries(table, heldOut)];
    const model = modelOf(rows);
    const { values } = await fitModel(model, rows, null, { ...trainings[0]!, epochs: 4, seed: 1 });
    const scores = await scoreTable(model, values, held);
    sum += createTableMetric(held, 'recall@2')
      .values(scores)
      .reduce((total, value) => total + value, 0);
  }
  expect(learned?.[4]).toBeCloseTo(sum / 30, 10);
});
