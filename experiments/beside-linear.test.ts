import { expect, test } from 'vitest';
import { drawHandmadeTable } from '../src/rank/learning/feature-table.fixture.ts';
import { selectQueries } from '../src/rank/learning/feature-table.ts';
import { splitByCluster } from '../src/rank/learning/folds.ts';
import { measureSystems } from './beside-linear.ts';

test('systems have means, and differences from the linear mix with the folds in which they are better', () => {
  const signals = ['a', 'b'];
  const drawn = { queries: 40, candidates: 7, clusters: 4, signals, weights: [1, 0], noise: 0, seed: 3 };
  const table = drawHandmadeTable(drawn);
  const folds = splitByCluster(table).map(({ heldOut }, fold) => {
    const held = selectQueries(table, [...heldOut]);
    const [ideal, worst] = [Float32Array.from(held.grades), held.grades.map((grade) => -grade)];
    return {
      held,
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
