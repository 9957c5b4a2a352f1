import { expect, test } from 'vitest';
import { finished, finishedWithBreaks, type Steps } from './steps.ts';

/** Three steps of a while each. */
function* counting(): Steps<string> {
  for (let step = 0; step < 3; step++) {
    for (const end = performance.now() + 60; performance.now() < end; );
    yield;
  }
  return 'all';
}

test('steps are taken to their end, which is their value', () => {
  expect(finished(counting())).toBe('all');
});

test('events come in between steps, and each is reported', async () => {
  const told: (number | string)[] = [];
  setImmediate(() => told.push('event'));
  expect(await finishedWithBreaks(counting(), (done) => told.push(done))).toBe('all');
  expect(told).toEqual([1, 'event', 2, 3]);
});

test('an error of a step is an error of all', async () => {
  // biome-ignore lint/correctness/useYield: it fails in its first step
  function* failing(): Steps<never> {
    throw new RangeError('of 7');
  }
  expect(() => finished(failing())).toThrow('of 7');
  await expect(finishedWithBreaks(failing(), () => {})).rejects.toThrow('of 7');
});
