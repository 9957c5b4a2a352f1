import { expect, test } from 'vitest';
import { inventFitted } from './invented-fit.fixture.ts';
import { inventResult } from './invented-result.fixture.ts';
import { buildFitPayload } from './payload.ts';

const result = inventFitted(5, { signals: 13, folds: 3, epochs: 5, queries: 29 });
const linear = buildFitPayload(result);

test('every number is there, greatest magnitude first, by its own hand-tuned one and bounds', () => {
  const sizes = linear?.weights.map(({ value }) => Math.abs(value)) ?? [];
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
  expect(linear?.weights).toHaveLength(13);
  for (const { name, value, handTuned, bounds } of linear?.weights ?? []) {
    const number = result.fit.numbers.find(({ label }) => label === name);
    expect([value, handTuned, bounds]).toEqual([
      number?.value,
      number?.handTuned,
      [number?.interval?.low, number?.interval?.high],
    ]);
  }
});

test('curves are those of the folds, and last that of all conversations', () => {
  expect(linear?.curves.map(({ name }) => name)).toEqual(['fold 1', 'fold 2', 'fold 3', 'all conversations']);
  expect(linear?.curves.at(-1)?.loss).toEqual(result.fit.curve.map(({ loss }) => loss));
  expect(linear?.curves[1]?.validation).toEqual(result.fit.folds[1]?.validation);
});

test('families have a difference a metric, with the p that decides', () => {
  const [first] = linear?.families ?? [];
  const comparison = result.fit.importance[0]?.comparisons['ndcg@10'];
  expect(first?.differences).toHaveLength(3);
  expect(first?.differences[1]).toEqual([
    comparison?.difference.mean,
    comparison?.difference.low,
    comparison?.difference.high,
    comparison?.correctedP,
    comparison?.verdict !== 'undecided',
  ]);
});

test('a result without a fit has none', () => {
  expect(buildFitPayload(inventResult(5, { arms: 2, threads: 5, turnsAThread: 3, top: 2 }))).toBeNull();
});
