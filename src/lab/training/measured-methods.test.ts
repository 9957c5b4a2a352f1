import { expect, test } from 'vitest';
import type { Measurement } from '../measure/measurement.ts';
import { countMeasured, listMethodResults } from './measured-methods.ts';

const buildMeasuredQueryRow = (id: string, cluster: string) => ({ id, cluster });
const buildHoledArm = (holes: number) => ({
  perQuery: { 'mrr@10': [1] },
  metrics: {},
  comparisons: null,
  holes,
  strata: {},
  control: null,
  structure: null,
});
const measurement = {
  queries: [buildMeasuredQueryRow('a', 'c1'), buildMeasuredQueryRow('b', 'c2'), buildMeasuredQueryRow('c', 'c1')],
  unanswerable: [buildMeasuredQueryRow('d', 'c3')],
  arms: [buildHoledArm(2), buildHoledArm(3)],
} as unknown as Measurement;

test('each method has the figures of its place, and none of single queries', () => {
  expect(
    listMethodResults(
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
  expect(countMeasured(measurement)).toEqual({ queries: 3, conversations: 2 });
});
