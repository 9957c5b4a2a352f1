import { expect, test } from 'vitest';
import { drawHandmadeTable } from '../src/rank/learning/feature-table.fixture.ts';
import { selectQueries } from '../src/rank/learning/feature-table.ts';
import { splitByCluster } from '../src/rank/learning/folds.ts';
import { blendScores, measureSystems } from './beside-linear.ts';

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

test('a blend adds a share of the other scores, both standardised over the candidates of a question', () => {
  const held = drawHandmadeTable({ queries: 2, candidates: 3, clusters: 2, signals: ['a'], seed: 1 });
  const [linear, other] = [Float32Array.of(10, 20, 30, 0, 0, 3), Float32Array.of(3, 2, 1, 5, 5, 5)];
  const z = Math.sqrt(1.5);
  const blends = blendScores(held, linear, ['trees', other], [0.5, 1]);
  expect(blends.map(([name]) => name)).toEqual(['linear + 0.5 trees', 'linear + 1 trees']);
  for (const [i, value] of [-z / 2, 0, z / 2, -z / Math.sqrt(3), -z / Math.sqrt(3), 2 * (z / Math.sqrt(3))].entries())
    expect(blends[0]?.[1][i]).toBeCloseTo(value, 5);
  expect([...blends[1]![1].subarray(0, 3)].every((value) => Math.abs(value) < 1e-6)).toBe(true);
});
