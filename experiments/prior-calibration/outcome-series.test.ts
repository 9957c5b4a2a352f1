import { expect, test } from 'vitest';
import { countObserved, sortByTime } from './outcome-series.ts';

const at = (timestamp: number, id = String(timestamp)) => ({
  id,
  timestamp,
  text: '',
  outcome: 1 as const,
  cluster: id,
  dev: true,
});

test('an outcome is known once more than the delay has passed', () => {
  const turns = [0, 3, 10, 11, 13, 14, 30].map((time) => at(time));
  expect([...countObserved({ turns, delay: 10 })]).toEqual([0, 0, 0, 1, 1, 2, 6]);
  expect([...countObserved({ turns, delay: 100 })]).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

test('turns of one time are in the order of their ids', () => {
  expect(sortByTime([at(5, 'b'), at(7, 'a'), at(5, 'B')]).map(({ id }) => id)).toEqual(['B', 'b', 'a']);
});
