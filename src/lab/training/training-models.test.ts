import { expect, test } from 'vitest';
import { drawHandmadeTable } from '../../rank/learning/feature-table.fixture.ts';
import { chooseParameterValues } from '../../rank/learning/parameters.ts';
import { fitStandardisation } from '../../rank/learning/standardisation.ts';
import { createModelMaker, listModelSignals } from './training-models.ts';

const signals = ['bm25', 'cosine', 'age'];
const table = drawHandmadeTable({ queries: 5, candidates: 3, clusters: 2, signals, seed: 3 });
const linear = { name: 'linear' as const, signals: null, nonNegative: [], initial: null };
const listInitialValues = (options: Parameters<typeof createModelMaker>[0]) => {
  const model = createModelMaker(options)(table);
  return Object.fromEntries(
    model.signals.map((signal, i) => [signal, chooseParameterValues(model, ({ initial }) => initial)[i]]),
  );
};

test('a mix is of all signals, or of those that are named, from what is written or from words and embedding', () => {
  expect(listInitialValues(linear)).toEqual({ bm25: 1, cosine: 1, age: 0 });
  expect(listInitialValues({ ...linear, signals: ['age', 'bm25'] })).toEqual({ age: 0, bm25: 1 });
  expect(listInitialValues({ ...linear, initial: { age: -0.5 } })).toEqual({ bm25: 0, cosine: 0, age: -0.5 });
});

test('its units are those of the rows that it is made of', () => {
  expect(createModelMaker(linear)(table).constants).toEqual(fitStandardisation(table, signals));
});

test('a signal that the bank lacks is named, with the nearest that it has', () => {
  expect(() => createModelMaker({ ...linear, signals: ['cosin'] })(table)).toThrow(
    'bank has no signal: cosin; use cosine',
  );
});

test('a trajectory model has as many coordinates as are asked for', () => {
  const labels = createModelMaker({ name: 'trajectory', dimensions: 7 })(table).parameters[0]?.labels;
  expect(labels).toHaveLength(7);
});

test('a mix whose start is zero for all of its signals is refused: it would be the baseline', () => {
  const list = (initial: Record<string, number> | null) => () =>
    listModelSignals({ ...linear, signals: ['age'], initial }, signals);
  expect(list(null)).toThrow(
    /starts from \{"bm25":1,"cosine":1\}, which is zero for all of its 1 signals; set model.initial/,
  );
  expect(list({ age: 0 })).toThrow(/zero for all/);
  expect(list({ age: -1 })()).toEqual(['age']);
});
