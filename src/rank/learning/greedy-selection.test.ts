import { describe, expect, test } from 'vitest';
import { fitWithSelection } from './cross-validation.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { createFixedSource, type FeatureTable } from './feature-table.ts';
import { fitModel } from './fitting.ts';
import { splitByCluster } from './folds.ts';
import { gatherSelectionRows, selectGreedily, walkSelectionPath } from './greedy-selection.ts';
import { createLinearModel, type LinearModelOptions } from './linear-model.ts';
import { drawListwiseRows } from './listwise-rows.fixture.ts';
import { fitStandardisation } from './standardisation.ts';
import { TRAINING_DEFAULTS } from './training.ts';
import { createTrajectoryModel } from './trajectory-model.ts';

const signals = Array.from({ length: 17 }, (_, f) => `s${f}`);
const planted = signals.map((_, f) => ({ 3: 2, 7: -1.2, 13: 0.6 })[f] ?? 0);
const table = drawHandmadeTable({
  queries: 61,
  candidates: 23,
  clusters: 5,
  signals,
  weights: planted,
  noise: 0.3,
  seed: 5,
});

function createModel(of: FeatureTable, options: Partial<LinearModelOptions> = {}) {
  return createLinearModel({ signals, initial: { s3: 1 }, ...options }, fitStandardisation(of, signals));
}
const loss = { name: 'listwise', temperature: 1 } as const;
const options = { ...TRAINING_DEFAULTS, loss, l2: 0.001, epochs: 5, sizes: [2, 3, 5], seed: 1 };

describe('a selection', () => {
  test.each(['pool', 'question'] as const)(
    'finds planted signals among noise in their order, %s',
    async (normalise) => {
      const { path, values, curve, theta } = await selectGreedily(
        createModel(table, { normalise }),
        table,
        null,
        options,
      );
      expect(path?.slice(0, 3)).toEqual(['s3', 's7', 's13']);
      expect(path).toHaveLength(5);
      expect(values.filter((value) => value !== 0)).toHaveLength(5);
      expect([Math.sign(values[3]!), Math.sign(values[7]!), Math.sign(values[13]!)]).toEqual([1, -1, 1]);
      expect(theta).toEqual(values);
      const losses = curve.slice(1).map(({ loss }) => loss as number);
      expect(losses).toEqual(losses.toSorted((a, b) => b - a));
    },
  );

  test('gives the same bytes again, by itself and as a training, and other rows with another seed', async () => {
    const wide = drawHandmadeTable({ queries: 7, candidates: 211, clusters: 3, signals, weights: planted, seed: 5 });
    const model = createModel(wide);
    const select = (seed: number) => selectGreedily(model, wide, null, { ...options, seed });
    const { values } = await select(1);
    expect((await select(1)).values).toEqual(values);
    expect((await select(2)).values).not.toEqual(values);
    const training = await fitModel(model, wide, null, { ...options, select: { sizes: [5] } });
    expect(training.values).toEqual(values);
  });

  test('takes the best of its sizes by validation', async () => {
    const model = createModel(table);
    const { bestEpoch, curve, path } = await selectGreedily(model, table, table, options);
    const best = Math.max(...[2, 3, 5].map((size) => curve[size]?.validation as number));
    expect(bestEpoch).toBe([2, 3, 5].find((size) => curve[size]?.validation === best));
    expect(path).toHaveLength(bestEpoch);
  });

  test('chooses no signal whose weight would be below 0 where it must not be', async () => {
    const model = createModel(table, { nonNegative: ['s3', 's7'] });
    const { path, values } = await selectGreedily(model, table, null, { ...options, epochs: 17 });
    expect(path).toContain('s3');
    expect(path).not.toContain('s7');
    expect(values.at(-1)).toBe(0);
  });

  test('ends when no signal lowers the loss', async () => {
    const values = table.values.map((value, i) => (i % 17 === 3 || i % 17 === 7 ? value : 2));
    const { path } = await selectGreedily(createModel({ ...table, values }), { ...table, values }, null, options);
    expect(path).toEqual(['s3', 's7']);
  });

  test('is of a linear model, of rows with relevant candidates, and stops when asked', async () => {
    const model = createModel(table);
    const trajectory = createTrajectoryModel({ dimensions: 5, self: 'include' });
    await expect(selectGreedily(trajectory, table, null, options)).rejects.toThrow(
      'selection of signals for the model: trajectory; use model linear',
    );
    const grades = new Float32Array(table.grades.length);
    await expect(selectGreedily(model, { ...table, grades }, null, options)).rejects.toThrow(
      'none of 61 queries has a relevant candidate to learn from; add queries or candidates',
    );
    const signal = AbortSignal.abort(new Error('told to'));
    await expect(selectGreedily(model, table, null, options, { signal })).rejects.toThrow('told to');
  });
});

describe('the rows of a query', () => {
  const wide = drawHandmadeTable({ queries: 3, candidates: 401, clusters: 3, signals, weights: planted, seed: 5 });
  const model = createModel(wide);

  test('have the relevant candidates as targets with infonce, in equal parts', async () => {
    const rough = new Float32Array(wide.mask.length);
    const graded = {
      ...wide,
      grades: wide.grades.map((grade, pair) => (grade > 0 ? 1 + (pair % 3) : 0)),
      relevantGrade: 2,
    };
    const given = { seed: 1, loss: { name: 'infonce', temperature: 1 } } as const;
    const { starts, targets } = await gatherSelectionRows(createModel(graded), graded, rough, given);
    for (let q = 0; q + 1 < starts.length; q++) {
      const relevant = graded.grades.subarray(q * 401, (q + 1) * 401).filter((grade) => grade >= 2).length;
      const own = targets.subarray(starts[q], starts[q + 1]).filter((share) => share > 0);
      expect([...own]).toEqual(Array<number>(relevant).fill(1 / relevant));
    }
    expect(starts.length).toBeGreaterThan(2);
  });

  test('are the relevant and the first 120, which count once, and 60 that count for all others', async () => {
    const rough = Float32Array.from(wide.mask, (_, pair) => wide.grades[pair]! - (pair % 401));
    const { starts, targets, offsets } = await gatherSelectionRows(model, wide, rough, { seed: 1, loss });
    const counts = [...offsets].map(Math.exp).reduce((sum, count) => sum + count, 0);
    expect(counts).toBeCloseTo(3 * 401, 6);
    for (let q = 0; q < 3; q++) {
      const own = [...offsets.subarray(starts[q], starts[q + 1])];
      const certain = own.filter((offset) => offset === 0).length;
      const grades = wide.grades.subarray(q * 401, (q + 1) * 401);
      const beyond = grades.filter((grade, slot) => grade > 0 && slot >= 120).length;
      expect(certain).toBe(120 + beyond);
      expect(own.filter((offset) => offset === Math.log((401 - certain) / 60))).toHaveLength(60);
      expect(targets.subarray(starts[q], starts[q + 1]).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    }
  });
});

test('does not read the rows that are held out', async () => {
  const source = createFixedSource(table);
  const [fold] = splitByCluster(table);
  const plan = {
    modelOf: (rows: FeatureTable) => createModel(rows),
    points: [{ ...options, select: { sizes: [2, 3, 5] } }],
    innerFolds: 2,
    seeds: [1],
  };
  const fit = await fitWithSelection(source, fold!, plan);
  const isHeldOut = (pair: number) => fold!.heldOut.includes(Math.floor(pair / table.width));
  const values = table.values.map((value, i) => (isHeldOut(Math.floor(i / signals.length)) ? -value : value));
  const grades = table.grades.map((grade, pair) => (isHeldOut(pair) ? 2 - grade : grade));
  const other = await fitWithSelection(createFixedSource({ ...table, values, grades }), fold!, plan);
  expect(other).toEqual({ ...fit, model: expect.anything() });
  expect([2, 3, 5]).toContain(fit.epochs);
  expect(fit.path).toHaveLength(fit.epochs);
});

test('a path has every number of signals', async () => {
  const { rows } = drawListwiseRows();
  const sizes: number[] = [];
  for await (const { chosen } of walkSelectionPath(rows, 0.001)) sizes.push(chosen.length);
  expect(sizes).toEqual([1, 2, 3, 4]);
});
