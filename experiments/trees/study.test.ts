import { beforeAll, expect, test } from 'vitest';
import { findInstalled } from '../../bench/peers/venv.ts';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { drawHandmadeTable } from '../../src/rank/learning/feature-table.fixture.ts';
import { selectQueries } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { splitByCluster } from '../../src/rank/learning/folds.ts';
import { createLinearModel } from '../../src/rank/learning/linear-model.ts';
import { fitStandardisation } from '../../src/rank/learning/standardisation.ts';
import { growTrees, measureSystems } from './study.ts';

beforeAll(() => useBackend('wasm'));

test('systems have means, and differences from the linear mix with the folds in which they are better', () => {
  const signals = ['a', 'b'];
  const drawn = { queries: 40, candidates: 7, clusters: 4, signals, weights: [1, 0], noise: 0, seed: 3 };
  const table = drawHandmadeTable(drawn);
  const folds = splitByCluster(table).map(({ heldOut }, fold) => {
    const held = selectQueries(table, [...heldOut]);
    const [ideal, worst] = [Float32Array.from(held.grades), held.grades.map((grade) => -grade)];
    return {
      held,
      rounds: 1,
      scores: new Map([
        ['linear', worst],
        ['trees', fold === 0 ? worst : ideal],
      ]),
    };
  });
  const [linear, trees] = measureSystems(folds, ['mrr@10', 'ndcg@10'], 1);
  expect(linear?.differences.map(({ mean, better }) => [mean, better])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  expect(trees?.means[0]?.mean).toBeGreaterThan(linear?.means[0]?.mean as number);
  expect(trees?.differences.map(({ better }) => better)).toEqual([3, 3]);
});

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
