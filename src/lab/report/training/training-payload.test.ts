import { expect, test } from 'vitest';
import { inventTraining } from './invented-training.fixture.ts';
import { buildTrainingPayload } from './training-payload.ts';

const result = inventTraining(5, { signals: 13, folds: 3, epochs: 5, queries: 29, second: true });
const { models, metrics, level } = buildTrainingPayload(result);
const [linear] = models;

test('every number is there, greatest magnitude first, by its own hand-tuned one and bounds', () => {
  const sizes = linear?.weights.map(({ value }) => Math.abs(value)) ?? [];
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  expect(linear?.weights).toHaveLength(13);
  for (const { name, value, handTuned, bounds } of linear?.weights ?? []) {
    const number = result.models[0]?.numbers.find(({ label }) => label === name);
    expect([value, handTuned, bounds]).toEqual([
      number?.value,
      number?.handTuned,
      [number?.interval?.low, number?.interval?.high],
    ]);
  }
});

test('curves are those of the folds, and last that of all conversations', () => {
  expect(linear?.curves.map(({ name }) => name)).toEqual(['fold 1', 'fold 2', 'fold 3', 'all conversations']);
  expect(linear?.curves.at(-1)?.loss).toEqual(result.models[0]?.curve.map(({ loss }) => loss));
  expect(linear?.curves[1]?.validation).toEqual(result.models[0]?.folds[1]?.validation);
});

test('families have a difference a metric, with the p that decides', () => {
  expect([metrics, level]).toEqual([result.metrics, 0.95]);
  const [first] = linear?.families ?? [];
  const comparison = result.models[0]?.importance[0]?.comparisons['ndcg@10'];
  expect(first?.differences).toHaveLength(3);
  expect(first?.differences[1]).toEqual([
    comparison?.difference.mean,
    comparison?.difference.low,
    comparison?.difference.high,
    comparison?.correctedP,
    comparison?.verdict !== 'undecided',
  ]);
  expect(models[1]?.families).toEqual([]);
});
