import { describe, expect, test } from 'vitest';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { crossValidate, fitWithSelection, type SelectionPlan } from './cross-validation.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { createFixedSource, selectQueries } from './feature-table.ts';
import { createTableMetric } from './fit-options.ts';
import type { HyperParameters } from './fitting.ts';
import { buildWholeFold, splitByCluster } from './folds.ts';
import { createLinearModel } from './linear-model.ts';
import { scoreTable } from './model.ts';
import { GRADIENT_EVALUATIONS } from './parameter-search.ts';
import { fitStandardisation } from './standardisation.ts';

const signals = ['a', 'b'];
const shape = { queries: 61, candidates: 11, clusters: 5, signals, seed: 3 };
const table = drawHandmadeTable({ ...shape, weights: [1, -1], noise: 0.2 });
const point: HyperParameters = {
  loss: { name: 'listwise', temperature: 1 },
  learningRate: 0.2,
  l2: 0,
  epochs: 13,
  patience: 5,
  batchSize: null,
  startNoise: 0.1,
};
const source = createFixedSource(table);
const idle = { ...point, learningRate: 0 };
const plan: SelectionPlan = {
  modelOf: (training) =>
    createLinearModel({ signals, nonNegative: [], initial: {} }, fitStandardisation(training, signals)),
  points: [idle, point],
  innerFolds: 3,
  seeds: [1, 2],
};

describe('on wasm', () => {
  useBackendWithoutLeaks('wasm');

  test('the point that helps held out clusters is chosen, and trained on all rows for as long as it wanted', async () => {
    const fit = await fitWithSelection(source, buildWholeFold(source), plan);
    expect(fit.point).toBe(1);
    expect(fit.pointValues[1]! - fit.pointValues[0]!).toBeGreaterThan(0.1);
    expect(fit.epochs).toBeGreaterThan(0);
    expect(fit.curve).toHaveLength(fit.epochs + 1);
    expect(fit.values[0]! / -fit.values[1]!).toBeCloseTo(1, 0);
    expect(await fitWithSelection(source, buildWholeFold(source), plan)).toEqual({ ...fit, model: expect.anything() });
  });

  test('validation is that of the inner folds after each epoch: of what learns nothing, the value of the start', async () => {
    const fit = await fitWithSelection(source, buildWholeFold(source), { ...plan, points: [idle] });
    expect(fit.validation.length).toBeGreaterThan(1);
    for (const value of fit.validation) expect(value).toBeCloseTo(fit.pointValues[0]!, 1);
    const learning = await fitWithSelection(source, buildWholeFold(source), { ...plan, seeds: [1] });
    expect(Math.max(...learning.validation)).toBeLessThanOrEqual(learning.pointValues[1]! + 1e-12);
    expect(learning.validation.at(-1)! - learning.validation[0]!).toBeGreaterThan(0.1);
  });

  test('every training of a point on inner folds is reported', async () => {
    const counts: (string | number)[] = [];
    const progress: StartProgress = (stage, total) => {
      counts.push(stage, total);
      return { update: (done) => void counts.push(done), finish: (remark) => void counts.push(remark ?? '') };
    };
    const short = { ...plan, points: [idle, idle], innerFolds: 2, seeds: [1] };
    await fitWithSelection(source, buildWholeFold(source), short, { progress });
    expect(counts).toEqual(['hyper-parameters', 4, 1, 2, 3, 4, '4 trainings']);
  });

  test('the work of all trainings is counted by their epochs and rows', async () => {
    const innerFolds = 2;
    const one = { ...plan, points: [idle], innerFolds, seeds: [1] };
    const fit = await fitWithSelection(source, buildWholeFold(source), one);
    const epochs = fit.validation.length - 1; // of every inner training: nothing is learned, so all run as long
    const rows = table.queryIds.length;
    const inner = GRADIENT_EVALUATIONS * epochs * (innerFolds - 1) * rows + (epochs + 1) * rows;
    expect(fit.work).toBe(inner + GRADIENT_EVALUATIONS * fit.epochs * rows);
  });

  test('each row is scored by a model that has not seen its cluster', async () => {
    const outer = splitByCluster(table);
    const { scores, folds } = await crossValidate(source, outer, plan);
    expect(folds.map(({ clusters }) => clusters)).toEqual([['c0'], ['c1'], ['c2'], ['c3'], ['c4']]);
    const { training, heldOut } = outer[2]!;
    const alone = await fitWithSelection(
      createFixedSource(selectQueries(table, training)),
      buildWholeFold({ clusters: selectQueries(table, training).clusters }),
      plan,
    );
    const own = await scoreTable(alone.model, alone.values, selectQueries(table, heldOut));
    for (const [i, row] of heldOut.entries())
      expect(scores.slice(row * 11, row * 11 + 11)).toEqual(own.slice(i * 11, i * 11 + 11));
    expect(folds[2]!.heldOutValue).toBe(createTableMetric(selectQueries(table, heldOut)).mean(own));
    expect(createTableMetric(table).mean(scores)).toBeGreaterThan(0.9);
  });

  test('what is held out is not looked at: other grades there change nothing', async () => {
    const outer = splitByCluster(table).slice(0, 1);
    const held = new Set(outer[0]!.heldOut);
    const grades = table.grades.map((grade, pair) => (held.has(Math.floor(pair / 11)) ? 3 - grade : grade));
    const { scores } = await crossValidate(source, outer, plan);
    expect((await crossValidate(createFixedSource({ ...table, grades }), outer, plan)).scores).toEqual(scores);
  });

  test('where relevance is by lot, held out rows show no gain over chance', async () => {
    const lot = drawHandmadeTable({ ...shape, queries: 199 });
    const { scores } = await crossValidate(createFixedSource(lot), splitByCluster(lot), {
      ...plan,
      seeds: [1],
      points: [point],
    });
    const gained = createTableMetric(lot).values(scores);
    const { values } = createTableMetric(lot);
    // Chance: the same rankings against candidates that stand elsewhere, the mean of many turns of each row.
    const turned = Array.from({ length: 11 }, (_, turn) =>
      values(scores.map((_, pair) => scores[pair - (pair % 11) + ((pair + turn) % 11)]!)),
    );
    const chance = turned.flatMap((row) => [...row]).reduce((sum, value) => sum + value, 0) / (11 * 199);
    const gain = gained.reduce((sum, value) => sum + value, 0) / 199 - chance;
    expect(Math.abs(gain)).toBeLessThan(0.06); // three standard errors of a mean of 199
  });

  test.each([
    [{ points: [] }, 'selection among 0 points; pass at least 1'],
    [{ seeds: [] }, 'selection of 0 seeds; pass at least 1'],
    [{ innerFolds: 7 }, '5 clusters cannot be divided into 7 folds; use 2 to 5'],
  ])('%j is refused', async (change, message) => {
    await expect(fitWithSelection(source, buildWholeFold(source), { ...plan, ...change })).rejects.toThrow(message);
  });

  test('folds whose rows differ in width are refused', async () => {
    const narrow = drawHandmadeTable({ ...shape, candidates: 9 });
    const rowsFor = (rows: Int32Array, heldOut: readonly string[]) =>
      createFixedSource(heldOut.includes('c1') ? narrow : table).gatherRowsFor(rows, heldOut);
    const outer = splitByCluster(table).slice(0, 2);
    const short = { ...plan, points: [idle], seeds: [1] };
    await expect(crossValidate({ clusters: table.clusters, gatherRowsFor: rowsFor }, outer, short)).rejects.toThrow(
      'candidates of the rows of a fold: expected 11, got 9',
    );
  });

  test('it ends when it is reported to', async () => {
    const signal = AbortSignal.abort(new Error('told to'));
    await expect(crossValidate(source, splitByCluster(table), plan, { signal })).rejects.toThrow('told to');
  });
});
