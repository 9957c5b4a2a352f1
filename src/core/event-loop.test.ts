import { expect, test } from 'vitest';
import { letEventsIn } from './event-loop.ts';

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
