import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { LARGEST_OUTCOME, type MemoryRecord } from '../../model/turns/memory-record.ts';
import { listObserved } from './outcome-pool.ts';

const end = z.number().min(-LARGEST_OUTCOME).max(LARGEST_OUTCOME);

/** Bounds of every outcome that can be; `none`, or `unit`: [0, 1] for observations that are all within it, else none. */
export const outcomeRange = z.union(
  [z.enum(['unit', 'none']), z.tuple([end, end]).refine(([low, high]) => low < high, 'the lower end first')],
  'unit, none, or [low, high] with low < high',
);
/** One of the choices of {@link outcomeRange}. */
export type OutcomeRange = z.output<typeof outcomeRange>;

/** @throws ValidationError for outcomes from `low` to `high` that a range of numbers does not hold. */
export function assertWithinRange(range: OutcomeRange, low: number, high: number, where: string): void {
  if (typeof range === 'string' || (range[0] <= low && high <= range[1])) return;
  throw new ValidationError(
    `outcome of ${where} is beyond the range from ${range[0]} to ${range[1]}: ${low < range[0] ? low : high}; correct the outcome, or widen the range`,
    { where, range },
  );
}

/** @throws ValidationError that names a record with an observation beyond the range. */
export function assertRecordsWithinRange(records: Iterable<MemoryRecord>, range: OutcomeRange): void {
  for (const record of records)
    for (const { min, max } of listObserved(record, 'both'))
      assertWithinRange(range, min as number, max as number, `record ${record.id}`);
}

/** Bounds of outcomes from `low` to `high`; null for none. @throws as {@link assertWithinRange}. */
export function findBounds(
  range: OutcomeRange,
  low: number,
  high: number,
): readonly [low: number, high: number] | null {
  assertWithinRange(range, low, high, 'a prior');
  if (range === 'unit') return low >= 0 && high <= 1 ? [0, 1] : null;
  return range === 'none' ? null : range;
}
