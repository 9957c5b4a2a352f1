import { describe, expect, test } from 'vitest';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from '../../rank/learning/feature-table.fixture.ts';
import { createFixedSource, type FeatureTable, selectQueries } from '../../rank/learning/feature-table.ts';
import { scoreTable } from '../../rank/learning/model.ts';
import { chooseParameterValues } from '../../rank/learning/parameters.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { resolveConfig } from '../config/config.ts';
import { FIT_METHODS } from '../config/fitted-arm.ts';
import { buildOuterFolds, createModelMaker, fitFold, listFittingPoints } from './fitted-methods.ts';
import { changeSampleTraining } from './training-config.fixture.ts';
import { readTraining, type TrainingConfig } from './training-config.ts';

const signals = ['a', 'b'];
const table = drawHandmadeTable({
  queries: 41,
  candidates: 7,
  clusters: 6,
  signals,
  weights: [1, -1],
  noise: 0.3,
  seed: 3,
});
const options = { name: 'linear' as const, signals: null, nonNegative: [], initial: { a: 1 } };
const sample = readTraining(resolveConfig(changeSampleTraining('nowhere', {}), 'test'));
/** A fit of signals that no bank has. */
const config: TrainingConfig = { ...sample, fit: { ...sample.fit, model: options } };

test('a point a combination of the grid, with what all have in common', () => {
  const points = listFittingPoints(config);
  expect(points.map(({ point }) => point)).toEqual([
    { loss: 'listwise', l2: 0.003, learningRate: 0.05 },
    { loss: 'listwise', l2: 0.03, learningRate: 0.05 },
  ]);
  expect(points[1]?.training).toMatchObject({
    l2: 0.03,
    epochs: 3,
    patience: 2,
    loss: { name: 'listwise', temperature: 1 },
  });
});

test('every training clips its gradient as the fit says, and by default not', () => {
  expect(Object.keys(config.fit)).not.toContain('clip');
  expect(listFittingPoints(config).every(({ training }) => !('clip' in training))).toBe(true);
  const clipped = readTraining(resolveConfig(changeSampleTraining('nowhere', { 'mix.fit.clip': 0.5 }), 'test'));
  expect(listFittingPoints(clipped).map(({ training }) => training.clip)).toEqual([0.5, 0.5]);
});

test('folds are as many as asked for, or one a conversation', () => {
  expect(buildOuterFolds(config, table)).toHaveLength(3);
  const alone = { ...config, fit: { ...config.fit, folds: 'leave-one-out' as const } };
  expect(buildOuterFolds(alone, table).map(({ clusters }) => clusters.length)).toEqual([1, 1, 1, 1, 1, 1]);
});

describe('a fold, on wasm', () => {
  useBackendWithoutLeaks('wasm');
  const [fold] = buildOuterFolds(config, table) as [ReturnType<typeof buildOuterFolds>[number]];
  const size = fold.heldOut.length * table.width;
  const sliceMethodScores = ({ scores }: { readonly scores: Float32Array }, method: (typeof FIT_METHODS)[number]) =>
    scores.subarray(FIT_METHODS.indexOf(method) * size, (FIT_METHODS.indexOf(method) + 1) * size);

  test('is scored by each method, with the units of its training rows', async () => {
    const outcome = await fitFold(config, createFixedSource(table), fold);
    const model = createModelMaker(options)(selectQueries(table, fold.training));
    const held = selectQueries(table, fold.heldOut);
    const numbers = {
      'hand-tuned': chooseParameterValues(model, ({ initial }) => initial),
      uniform: chooseParameterValues(model, ({ uniform }) => uniform),
      learned: outcome.values,
    };
    for (const [method, values] of Object.entries(numbers))
      expect(sliceMethodScores(outcome, method as 'learned'), method).toEqual(await scoreTable(model, values, held));
    expect(outcome.values[0]! - outcome.values[1]!).toBeGreaterThan(1);
    expect(outcome.curve).toHaveLength(outcome.epochs + 1);
    expect(outcome.validation.length).toBeGreaterThan(1);
  });

  test('learns nothing from the rows that it holds out', async () => {
    const spoilt: FeatureTable = { ...table, grades: table.grades.slice(), values: table.values.slice() };
    for (const row of fold.heldOut) {
      spoilt.grades.fill(0, row * table.width, (row + 1) * table.width);
      spoilt.grades[row * table.width] = 1;
      for (let i = row * table.width * 2; i < (row + 1) * table.width * 2; i++)
        spoilt.values[i] = spoilt.values[i]! * -3 + 5;
    }
    const [clean, other] = [
      await fitFold(config, createFixedSource(table), fold),
      await fitFold(config, createFixedSource(spoilt), fold),
    ];
    const { scores: _, ...learned } = clean;
    expect(other).toMatchObject(learned);
    const coordinates = sliceMethodScores(clean, 'coordinate ascent').every(Number.isFinite);
    expect(
      coordinates &&
        sliceMethodScores(other, 'learned').some((score, i) => score !== sliceMethodScores(clean, 'learned')[i]),
    ).toBe(true);
  });
});

describe('the model of some rows', () => {
  const named = ['bm25', 'cosine', 'age'];
  const rows = drawHandmadeTable({ queries: 5, candidates: 3, clusters: 2, signals: named, seed: 3 });
  const linear = { name: 'linear' as const, signals: null, nonNegative: [], initial: null };
  const listInitialValues = (model: Parameters<typeof createModelMaker>[0]) => {
    const made = createModelMaker(model)(rows);
    return Object.fromEntries(
      made.signals.map((signal, i) => [signal, chooseParameterValues(made, ({ initial }) => initial)[i]]),
    );
  };

  test('is of all signals, or of those that are named, from what is written or from words and embedding', () => {
    expect(listInitialValues(linear)).toEqual({ bm25: 1, cosine: 1, age: 0 });
    expect(listInitialValues({ ...linear, signals: ['age', 'bm25'] })).toEqual({ age: 0, bm25: 1 });
    expect(listInitialValues({ ...linear, initial: { age: -0.5 } })).toEqual({ bm25: 0, cosine: 0, age: -0.5 });
  });

  test('has the units of those rows', () => {
    expect(createModelMaker(linear)(rows).constants).toEqual(fitStandardisation(rows, named));
  });

  test('has as many coordinates as are asked for', () => {
    const labels = createModelMaker({ name: 'trajectory', dimensions: 7 })(rows).parameters[0]?.labels;
    expect(labels).toHaveLength(7);
  });
});
