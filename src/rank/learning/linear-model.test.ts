import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { copySignalColumn } from './feature-table.ts';
import { createTableMetric } from './fit-options.ts';
import { expectClose } from './gradient.oracle.ts';
import { computeRawWeights, createLinearModel } from './linear-model.ts';
import { scoreTable } from './model.ts';
import { chooseParameterValues, nameParameterValues } from './parameters.ts';
import { fitStandardisation } from './standardisation.ts';

const [Q, C] = [11, 7];
const table = drawHandmadeTable({
  queries: Q,
  candidates: C,
  clusters: 3,
  signals: ['a', 'b', 'unused', 'c'],
  seed: 5,
});
const signals = ['c', 'a', 'b'];
const standardisation = fitStandardisation(table, signals);
const model = createLinearModel({ signals, nonNegative: ['a'], initial: { b: -0.5 } }, standardisation);
const values = chooseParameterValues(model, ({ name }) => (name === 'weights' ? [1.5, -0.7] : [0.3]));

test('signals that must not count against a candidate have a parameter of their own, which starts above 0', () => {
  expect(
    model.parameters.map(({ name, labels, constraint, initial }) => ({ name, labels, constraint, initial })),
  ).toEqual([
    { name: 'weights', labels: ['c', 'b'], constraint: 'free', initial: [0, -0.5] },
    { name: 'nonNegativeWeights', labels: ['a'], constraint: 'positive', initial: [0.1] },
  ]);
  expect(nameParameterValues(model, values)).toEqual({ weights: { c: 1.5, b: -0.7 }, nonNegativeWeights: { a: 0.3 } });
});

test('without non-negative signals there is one parameter', () => {
  const free = createLinearModel({ signals, nonNegative: [], initial: {} }, standardisation);
  expect(free.parameters.map(({ name }) => name)).toEqual(['weights']);
});

test.each([
  [
    { signals, nonNegative: ['x'], initial: {} },
    'nonNegative names a signal that is not in the model: x; use signals of the model',
  ],
  [
    { signals, nonNegative: [], initial: { y: 1 } },
    'initial names a signal that is not in the model: y; use signals of the model',
  ],
])('options that name no signal are refused, %#', (options, message) => {
  expect(() => createLinearModel(options, standardisation)).toThrow(message);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('scores are the weighted sum of standardised signals', async () => {
    const weights: Record<string, number> = { c: 1.5, a: 0.3, b: -0.7 };
    const expected = new Float64Array(Q * C);
    for (const [f, signal] of signals.entries())
      for (const [pair, value] of copySignalColumn(table, signal).entries())
        expected[pair]! += (weights[signal]! * (value - standardisation.means[f]!)) / standardisation.deviations[f]!;
    expectClose(await scoreTable(model, values, table), expected);
  });

  test('weights of the signals as they are rank as the model does', async () => {
    const raw = computeRawWeights(model, values);
    const sums = new Float64Array(Q * C);
    for (const signal of signals)
      for (const [pair, value] of copySignalColumn(table, signal).entries()) sums[pair]! += raw[signal]! * value;
    const { values: perQuery } = createTableMetric(table, 'ndcg@5');
    expect([...perQuery(sums)]).toEqual([...perQuery(await scoreTable(model, values, table))]);
  });
});
