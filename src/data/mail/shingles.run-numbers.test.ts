import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { RunNumbers } from './shingles.ts';

test('runs are numbered as they come, also after the table has grown, and others have no number', () => {
  const random = createRandom(7, 'runs');
  const draw = () => Math.floor(random.uniform() * 2 ** 53);
  const added = new Set([0, 2 ** 53 - 1, ...Array.from({ length: 70_001 }, draw)]);
  const sameStart = Array.from({ length: 997 }, (_, i) => 5 * 2 ** 21 + i); // these begin at one place
  const expected = new Map<number, number>();
  for (const run of [...added, ...sameStart.filter((run) => run % 2 === 0)]) expected.set(run, expected.size);
  const numbers = new RunNumbers();
  for (const [run, number] of expected) expect(numbers.add(run)).toBe(number);
  for (const run of [...added, ...sameStart, ...Array.from({ length: 10_007 }, draw)])
    expect(numbers.find(run)).toBe(expected.get(run) ?? -1);
  for (const [run, number] of expected) expect(numbers.add(run)).toBe(number);
});
