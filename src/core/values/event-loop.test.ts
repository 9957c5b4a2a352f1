import { expect, test } from 'vitest';
import { createEventBreaks, letEventsIn } from '../terminal/progress.ts';

test('a timer that is due runs in between, as it does not between mere promises', async () => {
  let rang = false;
  setTimeout(() => {
    rang = true;
  }, 0);
  for (const end = performance.now() + 7; performance.now() < end; ) await Promise.resolve();
  expect(rang).toBe(false);
  await letEventsIn();
  await letEventsIn(); // the first may end the turn of the loop that has already asked its timers
  expect(rang).toBe(true);
});

test('a loop of short steps lets a timer in after some while, and not at every step', async () => {
  const pause = createEventBreaks();
  let rang = false;
  setTimeout(() => {
    rang = true;
  }, 0);
  const started = performance.now();
  let steps = 0;
  for (; !rang && performance.now() - started < 5000; steps++) await pause();
  expect(rang).toBe(true);
  expect(performance.now() - started).toBeGreaterThan(45);
  expect(steps).toBeGreaterThan(101);
});
