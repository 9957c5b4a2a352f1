import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { RunSet } from './mail-quotes.ts';

test('a set of runs has what was added and nothing else, also after it has grown', () => {
  const random = createRandom(7, 'runs');
  const draw = () => Math.floor(random.uniform() * 2 ** 53);
  const added = new Set([0, 2 ** 53 - 1, ...Array.from({ length: 70_001 }, draw)]);
  const sameStart = Array.from({ length: 997 }, (_, i) => 5 * 2 ** 21 + i); // these begin at one place
  const set = new RunSet();
  for (const run of [...added, ...sameStart.filter((run) => run % 2 === 0), ...added]) set.add(run);
  for (const run of added) expect(set.has(run)).toBe(true);
  for (const run of sameStart) expect(set.has(run)).toBe(run % 2 === 0);
  for (let i = 0; i < 10_007; i++) {
    const run = draw();
    expect(set.has(run)).toBe(added.has(run));
  }
});
