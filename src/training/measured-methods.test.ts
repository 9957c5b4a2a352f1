import { expect, test } from 'vitest';
import type { Measurement } from '../experiment/measure/measurement.ts';
import { measuredCounts, methodResults } from './measured-methods.ts';

const query = (id: string, cluster: string) => ({ id, cluster });
const arm = (holes: number) => ({
  perQuery: { 'mrr@10': [1] },
  metrics: {},
  comparisons: null,
  holes,
  strata: {},
  control: null,
  structure: null,
});
const measurement = {
  queries: [query('a', 'c1'), query('b', 'c2'), query('c', 'c1')],
  unanswerable: [query('d', 'c3')],
  arms: [arm(2), arm(3)],
} as unknown as Measurement;

test('each method has the figures of its place, and none of single queries', () => {
  expect(
    methodResults(
      new Map([
        ['x', 0],
        ['y', 0],
      ]).keys(),
      measurement,
    ),
  ).toEqual([
    { name: 'x', metrics: {}, comparisons: null, holes: 2, strata: {} },
    { name: 'y', metrics: {}, comparisons: null, holes: 3, strata: {} },
  ]);
});

test('what is counted is what the figures are over', () => {
  expect(measuredCounts(measurement)).toEqual({ queries: 3, conversations: 2 });
});
