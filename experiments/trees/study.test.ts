import { beforeAll, expect, test } from 'vitest';
import { findInstalled } from '../../bench/peers/venv.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { drawHandmadeTable } from '../../src/rank/learning/feature-table.fixture.ts';
import { selectQueries } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { splitByCluster } from '../../src/rank/learning/folds.ts';
import { createLinearModel } from '../../src/rank/learning/linear-model.ts';
import { fitStandardisation } from '../../src/rank/learning/standardisation.ts';
import { growTrees } from './study.ts';

beforeAll(() => useBackend('wasm'));

/** A test installs nothing. */
const python = findInstalled('trees-requirements.txt');

test.skipIf(python === null)('trees rank questions that they have not seen by planted signals', async () => {
  const signals = ['noise', 'a', 'b', 'c'];
  const drawn = { queries: 200, candidates: 31, clusters: 5, signals, weights: [0, 2, -2, 1], noise: 0.1, seed: 3 };
  const table = drawHandmadeTable(drawn);
  const [fold] = splitByCluster(table);
  const [training, held] = [selectQueries(table, [...fold!.training]), selectQueries(table, [...fold!.heldOut])];
  const model = createLinearModel({ signals, initial: { a: 1 } }, fitStandardisation(training, signals));
  const grow = () => growTrees(python!, model, training, held, { rounds: 60, seed: 1, innerFolds: 2 });
  const { rounds, scores } = await grow();
  expect(rounds).toBeGreaterThan(0);
  const metric = createTableMetric(held, 'mrr@10');
  expect(metric.mean(scores)).toBeGreaterThan(0.6);
  expect(metric.mean(scores.map((score) => -score))).toBeLessThan(0.2);
  expect((await grow()).scores).toEqual(scores);
});
