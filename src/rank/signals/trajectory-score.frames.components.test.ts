import { expect, test } from 'vitest';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { countComponents } from './placed-frames.ts';

/** Texts by the number of their components. */
const TEXTS = ['yes', 'I think we should go home.', 'The server failed. She has not been paying attention. It rains.'];

test.each([0, 1, 99, 100, 101, 211])('of %i texts each has its own number, and progress is reported', async (size) => {
  const counts = Array.from({ length: size }, (_, i) => 1 + (((i * i) % 7) % 3));
  const done: number[] = [];
  const remarks: (string | undefined)[] = [];
  const components = await countComponents(
    counts.map((count) => TEXTS[count - 1] as string),
    (stage, total) => {
      expect([stage, total]).toEqual(['trajectory', size]);
      return { update: (count) => void done.push(count), finish: (remark) => void remarks.push(remark) };
    },
  );
  expect([...components]).toEqual(counts);
  expect(done).toEqual([0, 100, 200].filter((start) => start < size));
  expect(remarks).toEqual([`${size} texts`]);
});

test('lets others have their turn in a long list', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await countComponents(Array<string>(997).fill(TEXTS[1]!), ignoreProgress);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
});
