import { z } from 'zod';
import { type MemoryRecord, type OutcomeStatistics, toOutcomeStatistics } from '../../model/turns/memory-record.ts';
import { mergeOutcomeStatistics } from './outcome-statistics.ts';

/**
 * Which observations of a record count: its `outcome`, what was observed later (`stats`), or both, of which the
 * outcome is the first.
 */
export const outcomePool = z.enum(['outcome', 'stats', 'both']);
/** One of the choices of {@link outcomePool}. */
export type OutcomePool = z.output<typeof outcomePool>;

/** The part of a record that a pool reads; without `stats` nothing was observed later. */
export type ObservedRecord = Pick<MemoryRecord, 'outcome'> & Partial<Pick<MemoryRecord, 'id' | 'stats'>>;

/** The observations of a record: its outcome as a part of one, and those that came later as another. */
export function listObserved({ outcome, stats }: ObservedRecord, pool: OutcomePool): OutcomeStatistics[] {
  const first = pool === 'stats' || outcome === null ? [] : [toOutcomeStatistics(outcome)];
  return pool === 'outcome' || stats === undefined || stats.count === 0 ? first : [...first, stats];
}

/** The mean of the observations of a record; null without one. */
export function computeObservedMean(record: ObservedRecord, pool: OutcomePool): number | null {
  const [first, later] = listObserved(record, pool);
  if (first === undefined) return null;
  return later === undefined ? first.mean : mergeOutcomeStatistics(first, later).mean;
}

/** A value and how often it was observed. */
export interface CountedValue {
  readonly value: number;
  readonly times: number;
}

/** A sum of squares may be this much below the largest that its bounds allow, in proportion: rounding. */
const ROUNDING = 1e-11;

/**
 * The values behind statistics, where these determine them; null otherwise.
 *
 * The sum of squares m2 is at most n (mean - min) (max - mean). It equals that only if every outcome is min or max, and
 * then n (mean - min) / (max - min) of them are max. So outcomes of 0 and 1 are known again from their statistics.
 */
export function recoverValues(statistics: OutcomeStatistics): CountedValue[] | null {
  const { count, mean, meanRemainder = 0, m2, min, max } = statistics;
  if (min === null || max === null) return [];
  if (min === max) return [{ value: min, times: count }];
  const width = max - min;
  const share = (mean - min + meanRemainder) / width;
  const largest = count * share * ((max - mean - meanRemainder) / width);
  const high = Math.round(count * share);
  const isOfTwo = high > 0 && high < count && m2 / width / width >= largest * (1 - ROUNDING);
  if (!isOfTwo) return null;
  return [
    { value: min, times: count - high },
    { value: max, times: high },
  ];
}
