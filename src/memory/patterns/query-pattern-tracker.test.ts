import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConfigurationError, ValidationError } from '../../core/errors/errors.ts';
import { QueryPatternTracker } from './query-pattern-tracker.ts';

/** Queries that retrieve some of 17 entries. */
const queries = fc.array(fc.array(fc.integer({ min: 0, max: 16 }).map(String)), { maxLength: 41 });

/** The same by lists that are searched from end to end. */
function countSlowly(recorded: readonly string[][], capacity: number) {
  let tracked: { id: string; retrievals: number; lastRetrieved: number }[] = [];
  for (const [time, ids] of recorded.entries())
    for (const id of new Set(ids)) {
      const known = tracked.find((pattern) => pattern.id === id);
      const pattern = { id, retrievals: (known?.retrievals ?? 0) + 1, lastRetrieved: time };
      tracked = [pattern, ...tracked.filter((other) => other.id !== id)].slice(0, capacity);
    }
  return tracked;
}

test('counts what a list searched from end to end counts, within its capacity', () => {
  fc.assert(
    fc.property(queries, fc.integer({ min: 1, max: 19 }), fc.integer({ min: 1, max: 4 }), (recorded, capacity, min) => {
      const tracker = new QueryPatternTracker(capacity);
      for (const [time, ids] of recorded.entries()) tracker.record(ids, time);
      const expected = countSlowly(recorded, capacity);
      expect(tracker.snapshot()).toEqual({ capacity, queries: recorded.length, patterns: expected });
      expect(tracker.size).toBeLessThanOrEqual(capacity);
      const candidates = tracker.getConsolidationCandidates(min);
      const due = expected.filter(({ retrievals }) => retrievals >= min);
      expect(candidates).toEqual(due.sort((a, b) => b.retrievals - a.retrievals || (a.id < b.id ? 1 : -1)));
    }),
    { numRuns: 53 },
  );
});

test('goes on after a restore as if it had not stopped', () => {
  fc.assert(
    fc.property(queries, fc.nat(41), (recorded, cut) => {
      let tracker = new QueryPatternTracker(7);
      const whole = new QueryPatternTracker(7);
      for (const [time, ids] of recorded.entries()) {
        if (time === cut) tracker = QueryPatternTracker.restore(JSON.parse(JSON.stringify(tracker.snapshot())));
        tracker.record(ids, time);
        whole.record(ids, time);
      }
      expect(tracker.snapshot()).toEqual(whole.snapshot());
    }),
    { numRuns: 31 },
  );
});

test('an entry that was forgotten begins again', () => {
  const tracker = new QueryPatternTracker(2);
  for (const [time, id] of ['a', 'a', 'b', 'c', 'a'].entries()) tracker.record([id], time);
  expect(tracker.getRetrievals('a')).toBe(1);
  expect(tracker.getRetrievals('b')).toBe(0);
  expect(tracker.queries).toBe(5);
});

test('bad input is refused', () => {
  expect(() => new QueryPatternTracker(0)).toThrow(ValidationError);
  expect(() => new QueryPatternTracker().record(['a'], Number.NaN)).toThrow(/no whole number: NaN/);
  expect(() => QueryPatternTracker.restore({ capacity: 3 })).toThrow(ConfigurationError);
});
