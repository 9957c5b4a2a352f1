import { expect, test } from 'vitest';
import { findQuietSpans } from './quiet-spans.ts';
import { DAY_MILLISECONDS } from './retention.ts';

/** A policy whose memory holds these numbers of messages, day by day. */
function buildPolicy(counts: readonly number[]) {
  const samples = counts.map((count, i) => {
    return {
      time: i * DAY_MILLISECONDS,
      count,
      magnitude: 1,
      energy: 0.1,
      coherence: 0.2,
      information: 1,
      informationBits: 1,
    };
  });
  const tally = { added: 0, removed: 0, addedFell: 0, removedFell: 0, violations: 0 };
  return { name: '', description: '', samples, tally, drifts: [] };
}

const repeat = (count: number, days: number) => Array<number>(days).fill(count);
const formatIsoDay = (day: number) => new Date(day * DAY_MILLISECONDS).toISOString();

test('only what is quiet in all policies for a week is cut', () => {
  const one = buildPolicy([1, ...repeat(2, 9), 3, ...repeat(4, 8), ...repeat(5, 7)]);
  const other = buildPolicy([...repeat(1, 10), 2, 3, 4, 5, ...repeat(6, 12)]);
  expect(findQuietSpans({ policies: [one] })).toEqual([
    { start: formatIsoDay(1), end: formatIsoDay(9), days: 8 },
    { start: formatIsoDay(11), end: formatIsoDay(18), days: 7 },
  ]);
  expect(findQuietSpans({ policies: [one, other] })).toEqual([
    { start: formatIsoDay(1), end: formatIsoDay(9), days: 8 },
  ]);
  expect(findQuietSpans({ policies: [] })).toEqual([]);
});
