import { expect, test } from 'vitest';
import { quietSpans } from './quiet-spans.ts';
import { DAY } from './retention.ts';

/** A policy whose memory holds these numbers of messages, day by day. */
function policy(counts: readonly number[]) {
  const samples = counts.map((count, i) => {
    return { time: i * DAY, count, magnitude: 1, energy: 0.1, coherence: 0.2, information: 1, informationBits: 1 };
  });
  const tally = { added: 0, removed: 0, addedFell: 0, removedFell: 0, violations: 0 };
  return { name: '', description: '', samples, tally, drifts: [] };
}

const repeat = (count: number, days: number) => Array<number>(days).fill(count);
const iso = (day: number) => new Date(day * DAY).toISOString();

test('only what is quiet in all policies for a week is cut', () => {
  const one = policy([1, ...repeat(2, 9), 3, ...repeat(4, 8), ...repeat(5, 7)]);
  const other = policy([...repeat(1, 10), 2, 3, 4, 5, ...repeat(6, 12)]);
  expect(quietSpans({ policies: [one] })).toEqual([
    { start: iso(1), end: iso(9), days: 8 },
    { start: iso(11), end: iso(18), days: 7 },
  ]);
  expect(quietSpans({ policies: [one, other] })).toEqual([{ start: iso(1), end: iso(9), days: 8 }]);
  expect(quietSpans({ policies: [] })).toEqual([]);
});
