import { expect } from 'vitest';
import type { StartProgress } from './progress.ts';

/** Makes every step of a stage take a while, without returning to the event loop. */
export const showSlowly: StartProgress = () => ({
  update() {
    for (const end = performance.now() + 7; performance.now() < end; );
  },
  finish() {},
});

/** Asserts that a timer that is due runs before the work is over, which must take a dozen steps. */
export async function expectEventsLetIn(work: (progress: StartProgress) => Promise<unknown>): Promise<void> {
  let rang = false;
  setTimeout(() => {
    rang = true;
  }, 0);
  await work(showSlowly);
  expect(rang).toBe(true);
}
