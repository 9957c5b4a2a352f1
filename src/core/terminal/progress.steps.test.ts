import { expect, test } from 'vitest';
import { finishSteps, finishStepsWithBreaks, type Steps } from './progress.ts';

/** Three steps of a while each. */
function* countSteps(): Steps<string> {
  for (let step = 0; step < 3; step++) {
    for (const end = performance.now() + 60; performance.now() < end; );
    yield;
  }
  return 'all';
}

test('steps are taken to their end, which is their value', () => {
  const told: number[] = [];
  expect(finishSteps(countSteps(), (done) => told.push(done))).toBe('all');
  expect(told).toEqual([1, 2, 3]);
});

test('events come in between steps, and each is reported', async () => {
  const told: (number | string)[] = [];
  setImmediate(() => told.push('event'));
  expect(await finishStepsWithBreaks(countSteps(), (done) => told.push(done))).toBe('all');
  expect(told).toEqual([1, 'event', 2, 3]);
});

test('an error of a step is an error of all', async () => {
  // biome-ignore lint/correctness/useYield: the generator throws before its first step
  function* failAtOnce(): Steps<never> {
    throw new RangeError('of 7');
  }
  expect(() => finishSteps(failAtOnce())).toThrow('of 7');
  await expect(finishStepsWithBreaks(failAtOnce(), () => {})).rejects.toThrow('of 7');
});
