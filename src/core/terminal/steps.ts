import { createEventBreaks } from '../values/event-loop.ts';
import type { Progress } from './progress.ts';

/** A computation in short steps that can be interrupted between them. */
export type Steps<T> = Generator<void, T>;

/** Takes all steps at once. @param report receives the number of finished steps. */
export function finishSteps<T>(steps: Steps<T>, report: (done: number) => void = () => {}): T {
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    report(done);
  }
}

/** Takes all steps and lets events in between them. @param report receives the number of finished steps. */
export async function finishStepsWithBreaks<T>(steps: Steps<T>, report: (done: number) => void): Promise<T> {
  const pause = createEventBreaks();
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    report(done);
    await pause();
  }
}

/** Takes a step for each item, reports their number, and lets events in between them. @returns the results in order. */
export async function mapWithBreaks<T, R>(
  items: Iterable<T>,
  stage: Pick<Progress, 'update'>,
  work: (item: T, index: number) => R | Promise<R>,
): Promise<R[]> {
  const pause = createEventBreaks();
  const results: R[] = [];
  for (const item of items) {
    results.push(await work(item, results.length));
    stage.update(results.length);
    await pause();
  }
  return results;
}
